import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { TrainingJob } from '../../crds/generated.ts'
import { setPaused } from '../../db/accounts/pauses.ts'
import { recordProgress } from '../../db/jobs/progress.ts'
import { recordCheckpoint, recordEvents, recordFailure, recordRelease } from '../../db/jobs/reports.ts'
import { askToSuspend } from '../../db/jobs/suspension.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { addKey, serveApi, type ServedApi } from '../support/api-server.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { DedicatedJobs, isTrue, until, untilMs } from '../support/dedicated-jobs.ts'
import { eventually } from '../support/eventually.ts'
import { useStack } from '../support/stack.ts'
import { checkpointOf, started, step } from '../support/training-rows.ts'

const stack = useStack()
let jobs: DedicatedJobs

type Spec = TrainingJob['spec']
type PrioritizedPod = Pod & { spec: { priority: number; priorityClassName: string } }

let server: ServedApi
let api: Rest

beforeAll(async () => {
  jobs = await DedicatedJobs.start(stack)
  server = await serveApi(stack, jobs.databaseUrl)
  api = createRest({ ...stack, url: server.url }, await addKey(jobs.pool, 'team'))
})
afterAll(async () => {
  await server?.remove()
  await jobs?.remove()
})

/** Waits until REST says this reason of a job that waits. */
const untilWaiting = (id: string, reason: string) =>
  until(async () =>
    expect(await api.call('GET', `/v1/preview/training-jobs/${id}`)).toMatchObject({ waiting: { reason } }),
  )

test('a job has a Job with a pod that claims no other, and that no warm trainer takes from it', async () => {
  const id = await jobs.apply('own')
  const { metadata, spec } = await jobs.waitForJob(id, 1)
  expect(spec).toMatchObject({ backoffLimit: 0, podReplacementPolicy: 'Failed', suspend: false })
  const podSpec = spec.template.spec as { restartPolicy: string; containers: { command: string[]; env: object[] }[] }
  expect(podSpec.restartPolicy).toBe('Never')
  expect(podSpec.containers[0]?.command).toContain('torchrun')
  expect(podSpec.containers[0]?.env).toContainEqual({ name: 'TRAINYARD_JOB_ID', value: id })
  expect((metadata.name ?? '').length).toBeLessThanOrEqual(57)

  const pod = await jobs.waitForPod(id)
  await until(async () =>
    expect(await jobs.readStatus('own')).toMatchObject({ phase: 'Queued', reason: 'InsufficientGPU', attempt: 0 }),
  )
  expect(isTrue(await jobs.readStatus('own'), 'PodsReady')).toBe('False')
  await untilWaiting(id, 'InsufficientGPU')
  expect(await jobs.claimAs(randomUUID())).toBeUndefined()
  expect(await jobs.claimAs(pod.metadata.uid, randomUUID())).toBeUndefined()
  const claim = await jobs.claimAs(pod.metadata.uid, id)
  expect(claim).toMatchObject({ id, attempt: 1 })
  await until(async () => expect(await jobs.readStatus('own')).toMatchObject({ phase: 'Starting', attempt: 1 }))
  await jobs.patch('tj', 'own', { spec: { cancel: true } })
  await stack.kubectl('wait', 'tj/own', '-n', jobs.namespace, '--for=condition=Finished', '--timeout=180s')
})

test('a job gets its Job when it is the first of its model, and its entity is not paused', async () => {
  const pause = (isPaused: boolean) =>
    setPaused(jobs.pool, { entity: 'team', byAdministrator: false, actor: 'command' }, isPaused)
  await pause(true)
  const first = await jobs.apply('turn-1')
  const spec = { mode: 'Dedicated', modelRef: { name: 'turn-1' }, config: { learningRate: 0.5 } } as const
  await stack.apply(jobs.describe('turn-2', spec))
  const second = await jobs.findId('turn-2')
  await until(async () =>
    expect(await jobs.readStatus('turn-1')).toMatchObject({
      phase: 'Queued',
      reason: 'Paused',
      message: expect.stringContaining('by an admin of its entity'),
    }),
  )
  expect(await jobs.listOwn('jobs.batch', first)).toEqual([])
  await pause(false)
  await jobs.waitForJob(first, 1)
  // It is later in the same queue of the operator.
  await until(async () => expect(await jobs.readStatus('turn-2')).toMatchObject({ reason: 'WaitingForModel' }))
  expect(await jobs.listOwn('jobs.batch', second)).toEqual([])
  await jobs.patch('tj', 'turn-1', { spec: { cancel: true } })
  await jobs.waitForJob(second, 1)
  await jobs.patch('tj', 'turn-2', { spec: { cancel: true } })
})

test('rule 7: retries never overlap: the next attempt has a Job when nothing is left of the last, and continues from its save', async () => {
  const id = await jobs.apply('again')
  const { pod, claim, attempt } = await jobs.begin(id)
  await recordProgress(jobs.pool, attempt, { id: randomUUID(), digest: 'ab', step: 1 })
  await jobs.keep(pod)
  const failure = { category: 'Internal', reason: 'CudaOutOfMemory', message: 'too little', retryable: true } as const
  expect(await recordFailure(jobs.pool, attempt, failure)).toBe('recorded')
  await jobs.end(pod, 1)
  await until(async () => expect((await jobs.waitForJob(id, 1)).metadata.deletionTimestamp).toBeDefined())
  expect(await jobs.readStatus('again')).toMatchObject({ phase: 'Queued', failure: { reason: 'CudaOutOfMemory' } })
  expect(claim.resume).toBeNull()
  await jobs.letGo(pod)
  await jobs.waitForJob(id, 2)
  const next = await jobs.begin(id)
  expect(next.claim).toMatchObject({ attempt: 2, resume: { step: 1 } })
  expect(await recordEvents(jobs.pool, attempt, [started, step(2)])).toBe('fenced')
})

test('a pod that fails before it has claimed the job is a try, with its reason; a job without another try fails', async () => {
  const id = await jobs.apply('broken', { mode: 'Dedicated', retry: { limit: 1 } })
  for (const number of [1, 2]) {
    await jobs.waitForJob(id, number)
    await jobs.end(await jobs.waitForPod(id), 137, 'OOMKilled')
    await until(async () => expect(await jobs.readStatus('broken')).toMatchObject({ attempt: number }))
  }
  await until(async () =>
    expect(await jobs.readStatus('broken')).toMatchObject({ phase: 'Failed', reason: 'OOMKilled', attempt: 2 }),
  )
  await stack.kubectl('wait', 'tj/broken', '-n', jobs.namespace, '--for=condition=Failed', '--timeout=180s')
})

test('a suspended job has no pods, and time does not count; it continues from its last save', async () => {
  const id = await jobs.apply('pausing', { mode: 'Dedicated', activeDeadlineSeconds: 1000 })
  const { pod, attempt } = await jobs.begin(id)
  await jobs.keep(pod)
  await jobs.patch('tj', 'pausing', { spec: { suspend: true } })
  await until(async () => expect((await jobs.waitForJob(id, 1)).metadata.deletionTimestamp).toBeDefined())
  await until(async () =>
    expect(await jobs.readStatus('pausing')).toMatchObject({ phase: 'Suspending', reason: 'Suspending' }),
  )
  // Its trainer saves and gives the job back: nothing is fenced.
  expect(await recordProgress(jobs.pool, attempt, { id: randomUUID(), digest: 'ab', step: 1 })).toBe('recorded')
  expect(await recordRelease(jobs.pool, attempt)).toBe('recorded')
  await until(async () => expect(await jobs.readStatus('pausing')).toMatchObject({ phase: 'Suspending' }))
  await jobs.letGo(pod)
  await until(async () =>
    expect(await jobs.readStatus('pausing')).toMatchObject({ phase: 'Suspended', reason: 'Suspended' }),
  )
  expect(isTrue(await jobs.readStatus('pausing'), 'Suspended')).toBe('True')
  await untilWaiting(id, 'Suspended')
  expect(await jobs.listOwn('jobs.batch,pods', id)).toEqual([])

  await jobs.pool.query(`UPDATE training.jobs SET suspended_at = suspended_at - interval '1 day' WHERE id = $1`, [id])
  await jobs.pool.query(
    `UPDATE training.job_attempts SET claimed_at = claimed_at - interval '1 day' WHERE job_id = $1`,
    [id],
  )
  expect(await jobs.claimAs(randomUUID(), id)).toBeUndefined()
  await jobs.patch('tj', 'pausing', { spec: { suspend: false } })
  await jobs.waitForJob(id, 2)
  const resumed = await jobs.begin(id)
  expect(resumed.claim).toMatchObject({ attempt: 2, resume: { step: 1 } })
  await until(async () => expect(await jobs.readStatus('pausing')).toMatchObject({ phase: 'Running', attempt: 2 }))

  // Over REST, the operator writes what is asked into the resource.
  await askToSuspend(jobs.pool, id, true)
  await until(async () => expect(await jobs.readStatus('pausing')).toMatchObject({ phase: 'Suspending' }))
  expect((await jobs.readJson<TrainingJob>('get', 'tj', 'pausing')).spec.suspend).toBe(true)
  await jobs.patch('tj', 'pausing', { spec: { cancel: true } })
  await until(async () => expect(await jobs.readStatus('pausing')).toMatchObject({ phase: 'Cancelled' }))
})

test('rules 1 and 2: terminal means free: the condition waits until the pod is gone; and a finished job never gets another', async () => {
  const id = await jobs.apply('done')
  const { pod, claim, attempt } = await jobs.begin(id)
  await jobs.keep(pod)
  expect(await recordCheckpoint(jobs.pool, attempt, checkpointOf(claim))).toBe('recorded')
  await until(async () => expect(await jobs.readStatus('done')).toMatchObject({ phase: 'Succeeded' }))
  await until(async () => expect((await jobs.waitForJob(id, 1)).metadata.deletionTimestamp).toBeDefined())
  for (const type of ['Complete', 'Finished']) expect(isTrue(await jobs.readStatus('done'), type)).toBe('False')
  // Also an operator that begins anew waits.
  await jobs.restartOperator()
  await jobs.letGo(pod)
  await eventually(async () => expect(isTrue(await jobs.readStatus('done'), 'Complete')).toBe('True'), 3 * untilMs, 100)
  expect(await jobs.listOwn('jobs.batch,pods', id)).toEqual([])
  await jobs.patch('tj', 'done', { spec: { retry: { limit: 9 } } })
  await until(async () => {
    const { metadata, status } = await jobs.readJson<TrainingJob>('get', 'tj', 'done')
    expect(status?.observedGeneration).toBe(metadata.generation)
  })
  expect(await jobs.listOwn('jobs.batch,pods', id)).toEqual([])
})

test("a job waits for its queue's quota, with Kueue's label; a preemption gives it back, and no try is lost", async () => {
  const id = await jobs.apply('queued', { mode: 'Dedicated', queueName: 'gpus', retry: { limit: 0 } })
  const { metadata, spec } = await jobs.waitForJob(id, 1)
  expect(metadata.labels?.['kueue.x-k8s.io/queue-name']).toBe('gpus')
  expect(spec.suspend).toBe(true)
  await until(async () =>
    expect(await jobs.readStatus('queued')).toMatchObject({ phase: 'Queued', reason: 'WaitingForQuota' }),
  )
  expect(isTrue(await jobs.readStatus('queued'), 'QuotaReserved')).toBe('False')
  await untilWaiting(id, 'WaitingForQuota')
  expect(await jobs.listOwn('pods', id)).toEqual([])

  // What Kueue does when it admits the Job, preempts it and admits it again.
  const admit = (suspend: boolean) => jobs.patch('job', metadata.name ?? '', { spec: { suspend } })
  await admit(false)
  const first = await jobs.begin(id)
  await until(async () => expect(isTrue(await jobs.readStatus('queued'), 'QuotaReserved')).toBe('True'))
  // What its pods lacked is over.
  await until(async () =>
    expect((await jobs.pool.query('SELECT waiting_reason FROM training.jobs WHERE id = $1', [id])).rows).toEqual([
      { waiting_reason: null },
    ]),
  )
  await admit(true)
  expect(await recordRelease(jobs.pool, first.attempt)).toBe('recorded')
  await until(async () =>
    expect(await jobs.readStatus('queued')).toMatchObject({ phase: 'Queued', reason: 'WaitingForQuota' }),
  )
  await until(async () => expect(await jobs.listOwn('pods', id)).toEqual([]))
  await admit(false)
  const second = await jobs.begin(id)
  expect(second.claim.attempt).toBe(2)
  expect(second.pod.metadata.uid).not.toBe(first.pod.metadata.uid)
  expect((await jobs.waitForJob(id, 1)).metadata.uid).toBe(metadata.uid)

  // Who deletes the resource frees its pod too.
  await stack.kubectl('delete', 'tj', 'queued', '-n', jobs.namespace)
  await until(async () => expect(await jobs.listOwn('jobs.batch,pods', id)).toEqual([]))
})

test('the pods of a job have its PriorityClass as soon as its base model allows it, and not before', async () => {
  const priorityClassName = `${jobs.namespace}-high`
  await stack.apply({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: priorityClassName },
    value: 1_000,
  })
  onTestFinished(async () => void (await stack.kubectl('delete', 'priorityclass', priorityClassName)))
  await jobs.applyModel('first')
  await stack.apply(jobs.describe('first', { mode: 'Dedicated', priorityClassName }))
  await until(async () =>
    expect(await jobs.readStatus('first')).toMatchObject({ phase: 'Pending', reason: 'PriorityClassNotAllowed' }),
  )
  await jobs.patch('bm', 'big', { spec: { trainer: { priorityClassNames: [priorityClassName] } } })
  const id = await jobs.findId('first')
  const { spec } = (await jobs.waitForPod(id)) as PrioritizedPod
  expect(spec).toMatchObject({ priorityClassName, priority: 1_000 })
  await expect(jobs.patch('tj', 'first', { spec: { priorityClassName: 'other' } })).rejects.toThrow('is immutable')
})

test.each<[string, Partial<Spec>, string]>([
  ['suspend', { mode: 'Warm', suspend: true }, 'suspend needs mode: Dedicated'],
  ['suspend without a mode', { suspend: true }, 'suspend needs mode: Dedicated'],
  ['queueName', { mode: 'Warm', queueName: 'gpus' }, 'queueName needs mode: Dedicated'],
  ['priorityClassName', { mode: 'Warm', priorityClassName: 'a' }, 'priorityClassName needs mode: Dedicated'],
])('%s of a job that has no pods of its own is rejected', async (_, spec, message) => {
  await expect(stack.apply(jobs.describe('rejected', spec))).rejects.toThrow(message)
})

test('mode and queueName can neither change nor be added or removed', async () => {
  const id = await jobs.apply('fixed', { mode: 'Warm' })
  expect(id).toBeDefined()
  for (const mode of ['Dedicated', null])
    await expect(jobs.patch('tj', 'fixed', { spec: { mode } })).rejects.toThrow('immutable')
  await jobs.apply('open', {})
  await expect(jobs.patch('tj', 'open', { spec: { mode: 'Warm' } })).rejects.toThrow('mode is immutable')
  await jobs.apply('line', { mode: 'Dedicated', queueName: 'a' })
  for (const queueName of ['b', null]) {
    await expect(jobs.patch('tj', 'line', { spec: { queueName } })).rejects.toThrow('queueName is immutable')
  }
})

test('jobs that do not say their mode have that of their base model', async () => {
  await jobs.patch('bm', 'big', { spec: { trainer: { defaultMode: 'Dedicated' } } })
  const id = await jobs.apply('default', {})
  await jobs.waitForJob(id, 1)
  await jobs.patch('bm', 'big', { spec: { trainer: { defaultMode: 'Warm' } } })
})
