import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrainingJob } from '../../crds/generated.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { startStatusServer, type RunningStatusServer } from '../support/status-server.ts'
import { postJson } from '../support/post.ts'
import { describeBaseModel, describeJob, describeModel } from '../support/resources.ts'

const stack = useStack()
const namespace = `free-${randomUUID().slice(0, 8)}`
const inNamespace = ['-n', namespace]
const baseModel = 'free/base'
const database = useTestDatabase()
let status: RunningStatusServer
let operator: RunningOperator
let pod: string
let token: string
let metricsPort: number

const start = () =>
  startOperator(stack, {
    databaseUrl: database.databaseUrl,
    namespace,
    env: { TRAINYARD_METRICS_PORT: String(metricsPort) },
  })

beforeAll(async () => {
  status = await startStatusServer(stack, database.databaseUrl, { namespace })
  metricsPort = await findFreePort()
  operator = await start()
  // No node runs its trainer: the test is the trainer.
  const scheduling = { nodeSelector: { 'example.com/node': 'none' } }
  const spec = { names: [baseModel], trainer: { warm: { min: 1 } }, scheduling }
  await stack.apply(describeBaseModel(namespace, 'base', spec))
  await findTrainer()
})

afterAll(async () => {
  await operator?.remove()
  await status?.remove()
})

/** Finds the trainer pod that the operator has made, and gets the token that its kubelet would get. */
async function findTrainer(): Promise<void> {
  pod = await eventually(async () => {
    const names = await stack.kubectl('get', 'pods', ...inNamespace, '-o', 'jsonpath={.items[*].metadata.name}')
    expect(names).toMatch(/^\S+$/)
    return names
  }, 180_000)
  const bound = ['--audience', 'trainyard-status', '--bound-object-kind', 'Pod', '--bound-object-name', pod]
  token = (await stack.kubectl('create', 'token', 'trainyard-trainer', ...inNamespace, ...bound)).trim()
}

const report = async (path: string, body: object) => {
  const answer = await postJson(status.url + path, token, body)
  return { status: answer.status, body: (answer.body ?? {}) as { id?: string } }
}

const processId = randomUUID()
const claim = (holding: string[], wait_seconds = 20) =>
  report('/v1/claims', { base_model: baseModel, process_id: processId, gpus: 1, holding, wait_seconds })

/** Applies a model and a job, and claims and starts it. Returns its name and the path of its attempt. */
async function startJob(name: string) {
  await stack.apply(describeModel(namespace, name))
  await stack.apply(describeJob(namespace, name))
  const claimed = await eventually(async () => {
    const { body } = await claim([])
    expect(body.id).toBeDefined()
    return body
  })
  const attempt = `/v1/jobs/${claimed.id}/attempts/1`
  const event = { seq: 0, type: 'training_started', data: { num_sequences: 1 } }
  expect(await report(`${attempt}/events`, { events: [event] })).toMatchObject({ status: 200 })
  return { name, id: claimed.id!, attempt }
}

const readStatus = async (name: string) =>
  (JSON.parse(await stack.kubectl('get', 'tj', name, ...inNamespace, '-o', 'json')) as TrainingJob).status

const findFinished = async (name: string) =>
  (await readStatus(name))?.conditions?.find(({ type }) => type === 'Finished')?.status

/** Cancels a job. Returns when Postgres, and so REST, says that it is over, and its resource says that it is not. */
async function cancel({ name, id }: { name: string; id: string }): Promise<void> {
  await stack.kubectl('patch', 'tj', name, ...inNamespace, '--type=merge', '-p', '{"spec":{"cancel":true}}')
  await eventually(async () => {
    const { rows } = await database.pool.query('SELECT state FROM training.jobs WHERE id = $1', [id])
    expect(rows).toEqual([{ state: 'Cancelled' }])
  })
  await eventually(async () => expect((await readStatus(name))?.reason).toBe('Stopping'))
  expect(await findFinished(name)).toBe('False')
}

test('rule 2: terminal means that the GPUs are free, also for an operator that is killed in between', async () => {
  const job = await startJob('told')
  await cancel(job)
  expect(await report(`${job.attempt}/heartbeat`, {})).toMatchObject({ status: 409 })
  await operator.remove()
  operator = await start()
  await eventually(async () =>
    expect(await (await fetch(`${operator.url}/ready`)).json()).toMatchObject({ leading: true }),
  )
  // The trainer computes its pass. The lease of the process that was killed is taken over in this time.
  expect(await findFinished(job.name)).toBe('False')
  expect(await report(`${job.attempt}/dropped`, {})).toMatchObject({ status: 200 })
  await stack.kubectl('wait', 'tj', job.name, ...inNamespace, '--for=condition=Finished', '--timeout=60s')
  expect(await readStatus(job.name)).toMatchObject({ phase: 'Cancelled', reason: 'Cancelled' })
})

test('rule 2: a trainer that claims another job without naming this one has dropped it', async () => {
  const job = await startJob('claims')
  await cancel(job)
  await claim([job.id], 0)
  expect(await findFinished(job.name)).toBe('False')
  await claim([], 0)
  await stack.kubectl('wait', 'tj', job.name, ...inNamespace, '--for=condition=Finished', '--timeout=60s')
})

test('rule 2: it holds too for a job that is cancelled before its first status is written', async () => {
  const job = await startJob('early')
  await operator.remove()
  const noStatus = ['--subresource=status', '--type=merge', '-p', '{"status":null}']
  await stack.kubectl('patch', 'tj', job.name, ...inNamespace, ...noStatus)
  expect(await readStatus(job.name)).toMatchObject({ reason: 'WaitingForOperator' })
  const isCancelled = cancel(job)
  operator = await start()
  await isCancelled
  expect(await report(`${job.attempt}/dropped`, {})).toMatchObject({ status: 200 })
  await stack.kubectl('wait', 'tj', job.name, ...inNamespace, '--for=condition=Finished', '--timeout=60s')
})

test('rule 2: the resource of a running job that is deleted stays until its trainer has dropped it, and is counted as drift', async () => {
  const job = await startJob('deleted')
  await stack.kubectl('delete', 'tj', job.name, ...inNamespace, '--wait=false')
  await eventually(async () => {
    const { rows } = await database.pool.query('SELECT state FROM training.jobs WHERE id = $1', [job.id])
    expect(rows).toEqual([{ state: 'Cancelled' }])
  })
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(metrics).toContain('trainyard_drift_total{case="job_resource_deleted"} 1')
  // Its trainer was not told yet, and is looked at once a second.
  await expect(eventually(() => expectGone(job.name), 3_000)).rejects.toThrow()
  expect(await report(`${job.attempt}/heartbeat`, {})).toMatchObject({ status: 409 })
  expect(await report(`${job.attempt}/dropped`, {})).toMatchObject({ status: 200 })
  await eventually(() => expectGone(job.name))
})

test('rule 2: a trainer whose pod is gone holds no GPU', async () => {
  const job = await startJob('gone')
  await cancel(job)
  await stack.kubectl('delete', 'pod', pod, ...inNamespace, '--force', '--grace-period=0')
  await stack.kubectl('wait', 'tj', job.name, ...inNamespace, '--for=condition=Finished', '--timeout=60s')
})

async function expectGone(name: string): Promise<void> {
  await expect(readStatus(name)).rejects.toThrow('NotFound')
}
