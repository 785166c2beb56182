import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { describeBaseModel, describeJob, describeModel } from '../support/resources.ts'

// Each difference is put right within this time.
const repairMs = 60_000

const stack = useStack()
const namespace = `drift-${randomUUID().slice(0, 8)}`
const inNamespace = ['-n', namespace]
const database = useTestDatabase()
let operator: RunningOperator
let metricsPort: number

beforeAll(async () => {
  await createNamespace(stack, namespace)
  await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'trainyard-trainer', namespace } })
  metricsPort = await findFreePort()
  const env = { TRAINYARD_METRICS_PORT: String(metricsPort) }
  operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace, env })
  await applyBaseModel('base', 0)
})

afterAll(async () => {
  await operator?.remove()
  await removeNamespace(stack, namespace)
})

async function applyBaseModel(name: string, trainers: number): Promise<void> {
  // No node runs its trainers.
  const scheduling = { nodeSelector: { 'example.com/node': 'none' } }
  await stack.apply(describeBaseModel(namespace, name, { trainer: { warm: { min: trainers } }, scheduling }))
}

const read = (kind: string, name: string, path: string) =>
  stack.kubectl('get', kind, name, ...inNamespace, '-o', `jsonpath={${path}}`)

/** Applies a model and a job, and waits until the job is queued. Returns its id. */
async function applyBoth(name: string): Promise<string> {
  await stack.apply(describeModel(namespace, name))
  await stack.apply(describeJob(namespace, name))
  return waitForJob(name)
}

const waitForJob = (name: string) =>
  eventually(async () => {
    expect(await read('tj', name, '.status.phase')).toBe('Queued')
    return read('tj', name, '.status.id')
  }, repairMs)

/** Removes the finalizers of a resource and deletes it. The operator sees neither before both have happened. */
async function lose(kind: string, name: string): Promise<void> {
  process.kill(operator.pid, 'SIGSTOP')
  await stack.kubectl('patch', kind, name, ...inNamespace, '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
  await stack.kubectl('delete', kind, name, ...inNamespace)
  process.kill(operator.pid, 'SIGCONT')
}

async function expectDrift(drift: string, count = 1): Promise<void> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const counted = new RegExp(`^trainyard_drift_total\\{case="${drift}"\\} (\\d+)$`, 'm').exec(text)?.[1]
  expect([drift, Number(counted ?? 0)]).toEqual([drift, count])
}

test('a job and a model without their resources get them again', async () => {
  const id = await applyBoth('lost')
  const uid = await read('models.trainyard.dev', 'lost', '.metadata.uid')
  await lose('tj', 'lost')
  expect(await waitForJob('lost')).toBe(id)
  await expectDrift('job_resource_lost')
  await lose('models.trainyard.dev', 'lost')
  await eventually(async () => {
    expect(await read('models.trainyard.dev', 'lost', '.status.id')).not.toBe('')
    expect(await read('models.trainyard.dev', 'lost', '.metadata.uid')).not.toBe(uid)
  }, repairMs)
  await expectDrift('model_resource_lost')
})

test('a resource without its row gets one', async () => {
  const id = await applyBoth('rowless')
  await database.pool.query('DELETE FROM training.jobs WHERE id = $1', [id])
  await eventually(async () => {
    const { rows } = await database.pool.query("SELECT state FROM training.jobs WHERE cr_name = 'rowless'")
    expect(rows).toEqual([{ state: 'Queued' }])
  }, repairMs)
  await expectDrift('job_row_lost')
})

test('a model without its row gets one, although nothing of its resource changes', async () => {
  await applyBoth('nameless')
  await database.pool.query("DELETE FROM training.jobs WHERE cr_name = 'nameless'")
  await database.pool.query("DELETE FROM training.models WHERE cr_name = 'nameless'")
  await eventually(async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      "SELECT id FROM training.models WHERE cr_name = 'nameless'",
    )
    expect(await read('models.trainyard.dev', 'nameless', '.status.id')).toBe(rows[0]?.id)
  }, repairMs)
  await expectDrift('model_row_lost')
})

test('a trainer of a base model that is gone is deleted', async () => {
  await applyBaseModel('gone', 1)
  const listTrainers = async () =>
    (await stack.kubectl('get', 'pods', ...inNamespace, '-o', 'jsonpath={.items[*].metadata.name}')).trim()
  const name = await eventually(async () => {
    const found = await listTrainers()
    expect(found).toMatch(/^\S+$/)
    return found
  })
  // Its owner is gone and it is not, as if it came back from a backup of the cluster.
  await stack.kubectl(
    'patch',
    'pod',
    name,
    ...inNamespace,
    '--type=merge',
    '-p',
    '{"metadata":{"ownerReferences":null}}',
  )
  await stack.kubectl('delete', 'basemodel', 'gone', ...inNamespace)
  await eventually(async () => expect(await listTrainers()).toBe(''), repairMs)
  await expectDrift('pod_unwanted')
})
