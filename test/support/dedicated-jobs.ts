import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { TrainingJob } from '../../crds/generated.ts'
import { claimJob, type Claim } from '../../db/jobs/claims.ts'
import { recordEvents } from '../../db/jobs/reports.ts'
import type { Pool } from '../../db/pool.ts'
import type { Job, Pod } from '../../lib/kube/objects.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { createNamespace, removeNamespace } from './namespace.ts'
import { startOperator, type RunningOperator } from './operator-process.ts'
import { nowhere } from './scaled-base-model.ts'
import type { Stack } from './stack.ts'
import { started, step } from './training-rows.ts'
import { describeBaseModel, describeJob, describeModel } from './resources.ts'

const baseModel = 'dedicated/base'
// It keeps a pod while a test looks at what happens before it is gone.
const hold = 'trainyard.test/hold'

type Spec = TrainingJob['spec']
type JobObject = Job & { spec: { suspend?: boolean; template: { spec: Record<string, unknown> } } }
type NamedPod = Pod & { metadata: { name: string; uid: string } }

export const untilMs = 60_000
export const until = <T>(check: () => Promise<T>) => eventually(check, untilMs, 100)

/** The status of a condition of a TrainingJob. */
export const isTrue = (status: TrainingJob['status'], type: string) =>
  status?.conditions?.find((condition) => condition.type === type)?.status

/**
 * A namespace with an operator, whose jobs have pods of their own, made by the real controller of Jobs. No node runs the
 * pods: tests say what becomes of them, and report as their trainers would.
 */
export class DedicatedJobs {
  readonly namespace = `dedicated-${randomUUID().slice(0, 8)}`
  readonly #stack: Stack
  readonly #database: TestDatabase
  #operator!: RunningOperator

  private constructor(stack: Stack, database: TestDatabase) {
    this.#stack = stack
    this.#database = database
  }

  static async start(stack: Stack): Promise<DedicatedJobs> {
    const jobs = new DedicatedJobs(stack, await createTestDatabase())
    const { namespace } = jobs
    await createNamespace(stack, namespace)
    await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'trainyard-trainer', namespace } })
    await jobs.#startOperator()
    const trainer = { gpus: 2, resources: nowhere, warm: { min: 0 } }
    await stack.apply(describeBaseModel(namespace, 'big', { names: [baseModel], trainer }))
    return jobs
  }

  async #startOperator(): Promise<void> {
    const { databaseUrl, namespace } = this
    this.#operator = await startOperator(this.#stack, { databaseUrl, namespace })
  }

  async restartOperator(): Promise<void> {
    await this.#operator.stop()
    await this.#startOperator()
  }

  async remove(): Promise<void> {
    await this.#operator?.remove()
    await removeNamespace(this.#stack, this.namespace)
    await this.#database.drop()
  }

  get databaseUrl(): string {
    return this.#database.databaseUrl
  }

  get pool(): Pool {
    return this.#database.pool
  }

  async readJson<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.#stack.kubectl(...args, '-n', this.namespace, '-o', 'json')) as T
  }

  async readStatus(name: string): Promise<TrainingJob['status']> {
    return (await this.readJson<TrainingJob>('get', 'tj', name)).status
  }

  /** The objects of some kinds that belong to a job. */
  async listOwn<T>(kind: string, id: string): Promise<T[]> {
    return (await this.readJson<{ items: T[] }>('get', kind, '-l', `trainyard.dev/job=${id}`)).items
  }

  patch(kind: string, name: string, change: object, ...options: string[]): Promise<string> {
    const patch = ['--type=merge', '-p', JSON.stringify(change)]
    return this.#stack.kubectl('patch', kind, name, '-n', this.namespace, ...patch, ...options)
  }

  describe(name: string, spec: Partial<Spec> = {}): TrainingJob {
    return describeJob(this.namespace, name, spec)
  }

  async applyModel(name: string): Promise<void> {
    await this.#stack.apply(describeModel(this.namespace, name, { baseModelRef: { name: 'big' } }))
  }

  /** Applies a model and a job, and returns the job's id. */
  async apply(name: string, spec: Partial<Spec> = { mode: 'Dedicated' }): Promise<string> {
    await this.applyModel(name)
    await this.#stack.apply(this.describe(name, spec))
    return this.findId(name)
  }

  findId(name: string): Promise<string> {
    return until(async () => {
      const id = (await this.readStatus(name))?.id
      if (id === undefined) throw new Error('no row yet')
      return id
    })
  }

  /** Waits until a job has one Job, that of an attempt. */
  waitForJob(id: string, attempt: number): Promise<JobObject> {
    return until(async () => {
      const jobs = await this.listOwn<JobObject>('jobs.batch', id)
      expect(jobs.map(({ metadata }) => metadata.name?.split('-').at(-1))).toEqual([String(attempt)])
      return jobs[0]!
    })
  }

  waitForPod(id: string): Promise<NamedPod> {
    return until(async () => {
      const pods = await this.listOwn<NamedPod>('pods', id)
      expect(pods).toHaveLength(1)
      return pods[0]!
    })
  }

  claimAs(podUid: string, jobId?: string): Promise<Claim | undefined> {
    const trainer = { baseModel, podUid, processId: randomUUID(), gpus: 2, holding: [] }
    return claimJob(this.pool, { ...trainer, ...(jobId && { jobId }) })
  }

  /** The job's pod claims it, and has reported its start and a step. */
  async begin(id: string) {
    const pod = await this.waitForPod(id)
    const podUid = pod.metadata.uid
    const claim = await this.claimAs(podUid, id)
    if (!claim) throw new Error('nothing to claim')
    const attempt = { jobId: claim.id, attempt: claim.attempt, podUid }
    expect(await recordEvents(this.pool, attempt, [started, step(1)])).toBe('recorded')
    // Nobody sends heartbeats.
    await this.pool.query(`UPDATE training.jobs SET lease_expires_at = now() + interval '1 hour' WHERE id = $1`, [id])
    return { pod, claim, attempt }
  }

  /** Keeps a deleted pod until `letGo`. */
  keep({ metadata }: Pod): Promise<string> {
    const finalizers = [...(metadata.finalizers ?? []), hold]
    return this.patch('pod', metadata.name ?? '', { metadata: { finalizers } })
  }

  /** The controller of Jobs removes its own finalizer. */
  async letGo({ metadata }: Pod): Promise<void> {
    const { metadata: now } = await this.readJson<Pod>('get', 'pod', metadata.name ?? '')
    const finalizers = (now.finalizers ?? []).filter((each) => each !== hold)
    await this.patch('pod', metadata.name ?? '', { metadata: { resourceVersion: now.resourceVersion, finalizers } })
  }

  /** The pod's container has ended. */
  end({ metadata }: Pod, exitCode: number, reason = 'Error'): Promise<string> {
    const terminated = { exitCode, reason, startedAt: null, finishedAt: new Date().toISOString() }
    const status = { name: 'trainer', image: 'none', imageID: '', ready: false, restartCount: 0, state: { terminated } }
    const phase = exitCode === 0 ? 'Succeeded' : 'Failed'
    const change = { status: { phase, containerStatuses: [status] } }
    return this.patch('pod', metadata.name ?? '', change, '--subresource=status')
  }
}
