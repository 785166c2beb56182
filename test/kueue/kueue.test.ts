import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordProgress } from '../../db/jobs/progress.ts'
import { recordCheckpoint, recordRelease } from '../../db/jobs/reports.ts'
import { DedicatedJobs, isTrue, until } from '../support/dedicated-jobs.ts'
import { kueueApi, startKueue } from '../support/kueue.ts'
import { useStack } from '../support/stack.ts'
import { checkpointOf } from '../support/training-rows.ts'

// The real controller of Kueue, with the real controller of Jobs. There is quota for one job of two GPUs.

const stack = useStack()
const queueName = 'gpus'
let jobs: DedicatedJobs
let stopKueue: () => Promise<void>

beforeAll(async () => {
  stopKueue = await startKueue(stack)
  jobs = await DedicatedJobs.start(stack)
  const { namespace } = jobs
  const apiVersion = kueueApi
  const plenty = { cpu: '100', memory: '1Ti' }
  const quota = { 'nvidia.com/gpu': 2, 'trainyard.test/nothing': 1, ...plenty }
  await stack.apply({ apiVersion, kind: 'ResourceFlavor', metadata: { name: namespace }, spec: {} })
  await stack.apply({
    apiVersion,
    kind: 'ClusterQueue',
    metadata: { name: namespace },
    spec: {
      namespaceSelector: {},
      preemption: { withinClusterQueue: 'LowerPriority' },
      resourceGroups: [
        {
          coveredResources: Object.keys(quota),
          flavors: [
            {
              name: namespace,
              resources: Object.entries(quota).map(([name, nominalQuota]) => ({ name, nominalQuota })),
            },
          ],
        },
      ],
    },
  })
  const metadata = { name: queueName, namespace }
  await stack.apply({ apiVersion, kind: 'LocalQueue', metadata, spec: { clusterQueue: namespace } })
  for (const [name, value] of Object.entries({ low: 1, high: 2 })) {
    const own = { name: `${namespace}-${name}` }
    await stack.apply({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: own, value })
  }
  const priorityClassNames = ['low', 'high'].map((name) => `${namespace}-${name}`)
  await jobs.patch('bm', 'big', { spec: { trainer: { priorityClassNames } } })
})
afterAll(async () => {
  await jobs?.remove()
  await stopKueue?.()
})

const apply = (name: 'low' | 'high') =>
  jobs.apply(name, {
    mode: 'Dedicated',
    queueName,
    priorityClassName: `${jobs.namespace}-${name}`,
    // A preemption must not count.
    retry: { limit: 0 },
  })

const waitForQuota = (name: string) =>
  until(async () => expect(await jobs.readStatus(name)).toMatchObject({ phase: 'Queued', reason: 'WaitingForQuota' }))

test('Kueue admits a job, preempts it for one of a higher PriorityClass, and admits it again, where it goes on', async () => {
  const low = await apply('low')
  const first = await jobs.begin(low)
  await until(async () => expect(isTrue(await jobs.readStatus('low'), 'QuotaReserved')).toBe('True'))

  const high = await apply('high')
  // Its pod is being ended: the trainer saves and gives the job back.
  await until(async () => expect((await jobs.waitForJob(low, 1)).spec.suspend).toBe(true))
  const save = { id: randomUUID(), digest: 'ab', step: 1 }
  expect(await recordProgress(jobs.pool, first.attempt, save)).toBe('recorded')
  expect(await recordRelease(jobs.pool, first.attempt)).toBe('recorded')
  await waitForQuota('low')

  const preferred = await jobs.begin(high)
  expect(await jobs.listOwn('pods', low)).toEqual([])
  expect(await recordCheckpoint(jobs.pool, preferred.attempt, checkpointOf(preferred.claim))).toBe('recorded')
  await until(async () => expect(await jobs.readStatus('high')).toMatchObject({ phase: 'Succeeded' }))

  const second = await jobs.begin(low)
  expect(second.claim).toMatchObject({ attempt: 2, resume: { step: 1 } })
  expect(await recordCheckpoint(jobs.pool, second.attempt, checkpointOf(second.claim))).toBe('recorded')
  await until(async () => expect(isTrue(await jobs.readStatus('low'), 'Complete')).toBe('True'))
})
