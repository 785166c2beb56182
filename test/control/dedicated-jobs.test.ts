import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Model, TrainingJob } from '../../crds/generated.ts'
import { apiVersion } from '../../crds/names.ts'
import { claimJob, type Claim } from '../../db/jobs/claims.ts'
import { recordProgress } from '../../db/jobs/progress.ts'
import { recordCheckpoint, recordEvents, recordFailure, recordRelease } from '../../db/jobs/reports.ts'
import { askToSuspend } from '../../db/jobs/suspension.ts'
import type { Job, Pod } from '../../lib/kube/objects.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { nowhere } from '../support/scaled-base-model.ts'
import { useStack } from '../support/stack.ts'
import { checkpointOf, started, step } from '../support/training-rows.ts'

// Jobs that have pods of their own, with the real controller of Jobs. No node runs the pods: the tests say what becomes of
// them, and report as their trainers would.

const stack = useStack()
const namespace = `dedicated-${randomUUID().slice(0, 8)}`
const baseModel = 'dedicated/base'
// It keeps a pod while a test looks at what happens before it is gone.
const hold = 'trainyard.test/hold'
const waitMs = 60_000
let database: TestDatabase
let operator: RunningOperator

type Spec = TrainingJob['spec']
type JobObject = Job & { spec: { suspend?: boolean; template: { spec: Record<string, unknown> } } }
type PrioritizedPod = Pod & { spec: { priority: number; priorityClassName: string } }

const readJson = async <T>(...args: string[]) =>
  JSON.parse(await stack.kubectl(...args, '-n', namespace, '-o', 'json')) as T
const readStatus = async (name: string) => (await readJson<TrainingJob>('get', 'tj', name)).status
const listOwn = async <T>(kind: string, id: string) =>
  (await readJson<{ items: T[] }>('get', kind, '-l', `trainyard.dev/job=${id}`)).items
const patch = (kind: string, name: string, change: object, ...options: string[]) =>
  stack.kubectl('patch', kind, name, '-n', namespace, '--type=merge', '-p', JSON.stringify(change), ...options)
const until = <T>(check: () => Promise<T>) => eventually(check, waitMs, 100)
const isTrue = (status: TrainingJob['status'], type: string) =>
  status?.conditions?.find((condition) => condition.type === type)?.status

function describeJob(name: string, spec: Partial<Spec> = {}): TrainingJob {
  const inputRef = { uri: 'artifact:///payloads/team/a.json', digest: '0'.repeat(64) }
  const metadata = { name, namespace }
  return { apiVersion, kind: 'TrainingJob', metadata, spec: { modelRef: { name }, method: 'RL', inputRef, ...spec } }
}

async function applyModel(name: string): Promise<void> {
  const of = { entity: 'team', project: 'tests', name, baseModelRef: { name: 'big' } }
  const model: Model = { apiVersion, kind: 'Model', metadata: { name, namespace }, spec: of }
  await stack.apply(model)
}

/** Applies a model and a job, and returns the job's id. */
async function apply(name: string, spec: Partial<Spec> = { mode: 'Dedicated' }): Promise<string> {
  await applyModel(name)
  await stack.apply(describeJob(name, spec))
  return findId(name)
}

const findId = (name: string): Promise<string> =>
  until(async () => {
    const id = (await readStatus(name))?.id
    if (id === undefined) throw new Error('no row yet')
    return id
  })

/** The job's only Job, with its only pod if it has one. */
async function waitForJob(id: string, number: number): Promise<JobObject> {
  return until(async () => {
    const jobs = await listOwn<JobObject>('jobs.batch', id)
    expect(jobs.map(({ metadata }) => metadata.name?.split('-').at(-1))).toEqual([String(number)])
    return jobs[0]!
  })
}

async function waitForPod(id: string): Promise<Pod & { metadata: { name: string; uid: string } }> {
  return until(async () => {
    const pods = await listOwn<Pod>('pods', id)
    expect(pods).toHaveLength(1)
    return pods[0] as Pod & { metadata: { name: string; uid: string } }
  })
}

const claimAs = (podUid: string, jobId?: string) =>
  claimJob(database.pool, { baseModel, podUid, processId: randomUUID(), gpus: 2, ...(jobId && { jobId }) })
const attemptOf = ({ id, attempt }: Claim, podUid: string) => ({ jobId: id, attempt, podUid })

/** The job's pod claims it, and has reported its start and a step. */
async function begin(id: string) {
  const pod = await waitForPod(id)
  const claim = await claimAs(pod.metadata.uid, id)
  if (!claim) throw new Error('nothing to claim')
  const attempt = attemptOf(claim, pod.metadata.uid)
  expect(await recordEvents(database.pool, attempt, [started, step(1)])).toBe('recorded')
  // Nobody sends heartbeats.
  await database.pool.query(`UPDATE training.jobs SET lease_expires_at = now() + interval '1 hour' WHERE id = $1`, [id])
  return { pod, claim, attempt }
}

const keep = ({ metadata }: Pod) =>
  patch('pod', metadata.name ?? '', { metadata: { finalizers: [...(metadata.finalizers ?? []), hold] } })
/** The controller of Jobs removes its own finalizer. */
async function letGo({ metadata }: Pod): Promise<void> {
  const { metadata: now } = await readJson<Pod>('get', 'pod', metadata.name ?? '')
  await patch('pod', metadata.name ?? '', {
    metadata: {
      resourceVersion: now.resourceVersion,
      finalizers: (now.finalizers ?? []).filter((each) => each !== hold),
    },
  })
}

/** The pod's container has ended. */
function end({ metadata }: Pod, exitCode: number, reason = 'Error') {
  const terminated = { exitCode, reason, startedAt: null, finishedAt: new Date().toISOString() }
  const status = { name: 'trainer', image: 'none', imageID: '', ready: false, restartCount: 0, state: { terminated } }
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed'
  return patch('pod', metadata.name ?? '', { status: { phase, containerStatuses: [status] } }, '--subresource=status')
}

beforeAll(async () => {
  database = await createTestDatabase()
  await createNamespace(stack, namespace)
  await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'trainyard-trainer', namespace } })
  operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
  await stack.apply({
    apiVersion,
    kind: 'BaseModel',
    metadata: { name: 'big', namespace },
    spec: {
      names: [baseModel],
      source: { path: 'models/none' },
      engine: { replicas: 0 },
      trainer: { gpus: 2, resources: nowhere, warm: { min: 0 } },
    },
  })
})
afterAll(async () => {
  await operator?.remove()
  await removeNamespace(stack, namespace)
  await database?.drop()
})

test('a job has a Job with a pod that claims no other, and that no warm trainer takes from it', async () => {
  const id = await apply('own')
  const { metadata, spec } = await waitForJob(id, 1)
  expect(spec).toMatchObject({ backoffLimit: 0, podReplacementPolicy: 'Failed', suspend: false })
  const podSpec = spec.template.spec as { restartPolicy: string; containers: { command: string[]; env: object[] }[] }
  expect(podSpec.restartPolicy).toBe('Never')
  expect(podSpec.containers[0]?.command).toContain('torchrun')
  expect(podSpec.containers[0]?.env).toContainEqual({ name: 'TRAINYARD_JOB_ID', value: id })
  expect((metadata.name ?? '').length).toBeLessThanOrEqual(57)

  const pod = await waitForPod(id)
  await until(async () =>
    expect(await readStatus('own')).toMatchObject({ phase: 'Queued', reason: 'InsufficientGPU', attempt: 0 }),
  )
  expect(isTrue(await readStatus('own'), 'PodsReady')).toBe('False')
  expect(await claimAs(randomUUID())).toBeUndefined()
  expect(await claimAs(pod.metadata.uid, randomUUID())).toBeUndefined()
  const claim = await claimAs(pod.metadata.uid, id)
  expect(claim).toMatchObject({ id, attempt: 1 })
  await until(async () => expect(await readStatus('own')).toMatchObject({ phase: 'Starting', attempt: 1 }))
  await patch('tj', 'own', { spec: { cancel: true } })
  await stack.kubectl('wait', 'tj/own', '-n', namespace, '--for=condition=Finished', '--timeout=180s')
})

test('retries never overlap: the next attempt has a Job when nothing is left of the last, and continues from its save', async () => {
  const id = await apply('again')
  const { pod, claim, attempt } = await begin(id)
  await recordProgress(database.pool, attempt, { id: randomUUID(), digest: 'ab', step: 1 })
  await keep(pod)
  const failure = { category: 'Internal', reason: 'CudaOutOfMemory', message: 'too little', retryable: true } as const
  expect(await recordFailure(database.pool, attempt, failure)).toBe('recorded')
  await end(pod, 1)
  await until(async () => expect((await waitForJob(id, 1)).metadata.deletionTimestamp).toBeDefined())
  expect(await readStatus('again')).toMatchObject({ phase: 'Queued', failure: { reason: 'CudaOutOfMemory' } })
  expect(claim.resume).toBeNull()
  await letGo(pod)
  await waitForJob(id, 2)
  const next = await begin(id)
  expect(next.claim).toMatchObject({ attempt: 2, resume: { step: 1 } })
  expect(await recordEvents(database.pool, attempt, [started, step(2)])).toBe('fenced')
})

test('a pod that fails before it has claimed the job is a try, with its reason; a job without another try fails', async () => {
  const id = await apply('broken', { mode: 'Dedicated', retry: { limit: 1 } })
  for (const number of [1, 2]) {
    await waitForJob(id, number)
    await end(await waitForPod(id), 137, 'OOMKilled')
    await until(async () => expect(await readStatus('broken')).toMatchObject({ attempt: number }))
  }
  await until(async () =>
    expect(await readStatus('broken')).toMatchObject({ phase: 'Failed', reason: 'OOMKilled', attempt: 2 }),
  )
  await stack.kubectl('wait', 'tj/broken', '-n', namespace, '--for=condition=Failed', '--timeout=180s')
})

test('a suspended job has no pods, and time does not count; it continues from its last save', async () => {
  const id = await apply('pausing', { mode: 'Dedicated', activeDeadlineSeconds: 1000 })
  const { pod, attempt } = await begin(id)
  await keep(pod)
  await patch('tj', 'pausing', { spec: { suspend: true } })
  await until(async () => expect((await waitForJob(id, 1)).metadata.deletionTimestamp).toBeDefined())
  await until(async () =>
    expect(await readStatus('pausing')).toMatchObject({ phase: 'Suspending', reason: 'Suspending' }),
  )
  // Its trainer saves and gives the job back: nothing is fenced.
  expect(await recordProgress(database.pool, attempt, { id: randomUUID(), digest: 'ab', step: 1 })).toBe('recorded')
  expect(await recordRelease(database.pool, attempt)).toBe('recorded')
  await until(async () => expect(await readStatus('pausing')).toMatchObject({ phase: 'Suspending' }))
  await letGo(pod)
  await until(async () =>
    expect(await readStatus('pausing')).toMatchObject({ phase: 'Suspended', reason: 'Suspended' }),
  )
  expect(isTrue(await readStatus('pausing'), 'Suspended')).toBe('True')
  expect(await listOwn('jobs.batch,pods', id)).toEqual([])

  await database.pool.query(`UPDATE training.jobs SET suspended_at = suspended_at - interval '1 day' WHERE id = $1`, [
    id,
  ])
  await database.pool.query(
    `UPDATE training.job_attempts SET claimed_at = claimed_at - interval '1 day' WHERE job_id = $1`,
    [id],
  )
  expect(await claimAs(randomUUID(), id)).toBeUndefined()
  await patch('tj', 'pausing', { spec: { suspend: false } })
  await waitForJob(id, 2)
  const resumed = await begin(id)
  expect(resumed.claim).toMatchObject({ attempt: 2, resume: { step: 1 } })
  await until(async () => expect(await readStatus('pausing')).toMatchObject({ phase: 'Running', attempt: 2 }))

  // Over REST, the operator writes what is asked into the resource.
  await askToSuspend(database.pool, id, true)
  await until(async () => expect(await readStatus('pausing')).toMatchObject({ phase: 'Suspending' }))
  expect((await readJson<TrainingJob>('get', 'tj', 'pausing')).spec.suspend).toBe(true)
  await patch('tj', 'pausing', { spec: { cancel: true } })
  await until(async () => expect(await readStatus('pausing')).toMatchObject({ phase: 'Cancelled' }))
})

test('terminal means free: the condition waits until the pod is gone; and a finished job never gets another', async () => {
  const id = await apply('done')
  const { pod, claim, attempt } = await begin(id)
  await keep(pod)
  expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('recorded')
  await until(async () => expect(await readStatus('done')).toMatchObject({ phase: 'Succeeded' }))
  await until(async () => expect((await waitForJob(id, 1)).metadata.deletionTimestamp).toBeDefined())
  for (const type of ['Complete', 'Finished']) expect(isTrue(await readStatus('done'), type)).toBe('False')
  // Also an operator that begins anew waits.
  await operator.stop()
  operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
  await letGo(pod)
  await eventually(async () => expect(isTrue(await readStatus('done'), 'Complete')).toBe('True'), 3 * waitMs, 100)
  expect(await listOwn('jobs.batch,pods', id)).toEqual([])
  await patch('tj', 'done', { spec: { retry: { limit: 9 } } })
  await until(async () => {
    const { metadata, status } = await readJson<TrainingJob>('get', 'tj', 'done')
    expect(status?.observedGeneration).toBe(metadata.generation)
  })
  expect(await listOwn('jobs.batch,pods', id)).toEqual([])
})

test("a job waits for its queue's quota, with Kueue's label; a preemption gives it back, and no try is lost", async () => {
  const id = await apply('queued', { mode: 'Dedicated', queueName: 'gpus', retry: { limit: 0 } })
  const { metadata, spec } = await waitForJob(id, 1)
  expect(metadata.labels?.['kueue.x-k8s.io/queue-name']).toBe('gpus')
  expect(spec.suspend).toBe(true)
  await until(async () =>
    expect(await readStatus('queued')).toMatchObject({ phase: 'Queued', reason: 'WaitingForQuota' }),
  )
  expect(isTrue(await readStatus('queued'), 'QuotaReserved')).toBe('False')
  expect(await listOwn('pods', id)).toEqual([])

  // What Kueue does when it admits the Job, preempts it and admits it again.
  const admit = (suspend: boolean) => patch('job', metadata.name ?? '', { spec: { suspend } })
  await admit(false)
  const first = await begin(id)
  await until(async () => expect(isTrue(await readStatus('queued'), 'QuotaReserved')).toBe('True'))
  await admit(true)
  expect(await recordRelease(database.pool, first.attempt)).toBe('recorded')
  await until(async () =>
    expect(await readStatus('queued')).toMatchObject({ phase: 'Queued', reason: 'WaitingForQuota' }),
  )
  await until(async () => expect(await listOwn('pods', id)).toEqual([]))
  await admit(false)
  const second = await begin(id)
  expect(second.claim.attempt).toBe(2)
  expect(second.pod.metadata.uid).not.toBe(first.pod.metadata.uid)
  expect((await waitForJob(id, 1)).metadata.uid).toBe(metadata.uid)

  // Who deletes the resource frees its pod too.
  await stack.kubectl('delete', 'tj', 'queued', '-n', namespace)
  await until(async () => expect(await listOwn('jobs.batch,pods', id)).toEqual([]))
})

test('the pods of a job have its PriorityClass as soon as its base model allows it, and not before', async () => {
  const priorityClassName = `${namespace}-high`
  await stack.apply({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: priorityClassName },
    value: 1_000,
  })
  onTestFinished(async () => void (await stack.kubectl('delete', 'priorityclass', priorityClassName)))
  await applyModel('first')
  await stack.apply(describeJob('first', { mode: 'Dedicated', priorityClassName }))
  await until(async () =>
    expect(await readStatus('first')).toMatchObject({ phase: 'Pending', reason: 'PriorityClassNotAllowed' }),
  )
  await patch('bm', 'big', { spec: { trainer: { priorityClassNames: [priorityClassName] } } })
  const id = await findId('first')
  const { spec } = (await waitForPod(id)) as PrioritizedPod
  expect(spec).toMatchObject({ priorityClassName, priority: 1_000 })
  await expect(patch('tj', 'first', { spec: { priorityClassName: 'other' } })).rejects.toThrow('is immutable')
})

test.each<[string, Partial<Spec>, string]>([
  ['suspend', { mode: 'Warm', suspend: true }, 'suspend needs mode: Dedicated'],
  ['suspend without a mode', { suspend: true }, 'suspend needs mode: Dedicated'],
  ['queueName', { mode: 'Warm', queueName: 'gpus' }, 'queueName needs mode: Dedicated'],
  ['priorityClassName', { mode: 'Warm', priorityClassName: 'a' }, 'priorityClassName needs mode: Dedicated'],
])('%s of a job that has no pods of its own is rejected', async (_, spec, message) => {
  await expect(stack.apply(describeJob('rejected', spec))).rejects.toThrow(message)
})

test('mode and queueName can neither change nor be added or removed', async () => {
  const id = await apply('fixed', { mode: 'Warm' })
  expect(id).toBeDefined()
  for (const mode of ['Dedicated', null])
    await expect(patch('tj', 'fixed', { spec: { mode } })).rejects.toThrow('immutable')
  await apply('open', {})
  await expect(patch('tj', 'open', { spec: { mode: 'Warm' } })).rejects.toThrow('mode is immutable')
  await apply('line', { mode: 'Dedicated', queueName: 'a' })
  for (const queueName of ['b', null]) {
    await expect(patch('tj', 'line', { spec: { queueName } })).rejects.toThrow('queueName is immutable')
  }
})

test('jobs that do not say their mode have that of their base model', async () => {
  await patch('bm', 'big', { spec: { trainer: { defaultMode: 'Dedicated' } } })
  const id = await apply('default', {})
  await waitForJob(id, 1)
  await patch('bm', 'big', { spec: { trainer: { defaultMode: 'Warm' } } })
})
