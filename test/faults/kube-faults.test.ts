import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { openKubeFront, type KubeFront } from './kube-front.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { isNightly } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'
import { describeBaseModel, describeJob, describeModel } from '../support/resources.ts'

const stack = useStack()
const namespace = `kube-${randomUUID().slice(0, 8)}`
const database = useTestDatabase()
let front: KubeFront
let operator: RunningOperator

beforeAll(async () => {
  await createNamespace(stack, namespace)
  front = await openKubeFront(stack)
  const { kubeconfig } = front
  operator = await startOperator({ kubeconfig }, { databaseUrl: database.databaseUrl, namespace })
  await applyBaseModel('base')
})

afterAll(async () => {
  await operator?.remove()
  await front?.close()
  await removeNamespace(stack, namespace)
})

const applyBaseModel = (name: string) => stack.apply(describeBaseModel(namespace, name))
const applyModel = (name: string) => stack.apply(describeModel(namespace, name))
const applyJob = (name: string) => stack.apply(describeJob(namespace, name))

const read = (kind: string, name: string, field: string) =>
  stack.kubectl('get', kind, name, '-n', namespace, '-o', `jsonpath={.status.${field}}`)
const waitForModel = (name: string, timeoutMs?: number) =>
  eventually(async () => expect(await read('models.trainyard.dev', name, 'id')).not.toBe(''), timeoutMs)
const waitForJob = (name: string) => eventually(async () => expect(await read('tj', name, 'phase')).toBe('Queued'))
const askReady = async () => {
  const response = await fetch(`${operator.url}/ready`)
  return { status: response.status, why: ((await response.json()) as { not_ready?: string }).not_ready }
}

test('a restart of kube-apiserver: the operator goes on from where it was, and keeps its Lease', async () => {
  await applyModel('before')
  await waitForModel('before')
  await front.down()
  await applyModel('during')
  await applyJob('during')
  await front.up()
  await waitForModel('during')
  await waitForJob('during')
  expect(operator.pid).toBeGreaterThan(0)
  expect(await Promise.race([operator.exited, Promise.resolve('runs')])).toBe('runs')
})

test('a 403 on one kind: the others go on, the operator says what it lacks, and goes on by itself', async () => {
  await applyModel('allowed')
  await waitForModel('allowed')
  front.forbid('trainingjobs')
  await applyJob('allowed')
  await applyModel('beside')
  await waitForModel('beside')
  await eventually(async () =>
    expect(await askReady()).toEqual({ status: 503, why: expect.stringContaining('cannot list TrainingJob') }),
  )
  expect(await read('tj', 'allowed', 'phase')).toBe('Pending')
  front.forbid(undefined)
  await waitForJob('allowed')
  await eventually(async () => expect(await askReady()).toEqual({ status: 200 }))
})

// It takes the time of a watch.
test.runIf(isNightly())(
  'a watch that is silently dead is replaced within its time, and what it missed is done',
  async () => {
    front.silenceWatches()
    await applyModel('unheard')
    await waitForModel('unheard', 90_000)
  },
)
