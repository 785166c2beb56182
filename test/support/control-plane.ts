import { randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { startApiServer } from './api-server.ts'
import { eventually } from './eventually.ts'
import { startOperator } from './operator-process.ts'
import { createRest, type Rest } from './rest.ts'
import type { Stack } from './stack.ts'
import { startStatusServer } from './status-server.ts'
import { createNamespace } from './namespace.ts'
import { post } from './post.ts'
import { describeBaseModel } from './resources.ts'

const message = { role: 'user', content: 'a' }
const groups = [
  {
    trajectories: [1, 0].map((reward) => ({
      messages_and_choices: [message, { ...message, role: 'assistant' }],
      reward,
    })),
  },
]

/** A control plane, beside others on the same database. */
export interface ControlPlane {
  rest: Rest
  restUrl: string
  baseModel: string
  statusUrl: string
}

export interface ControlPlaneSettings {
  databaseUrl: string
  /** A key of the REST interface. */
  key: string
  namespace: string
  baseModel: string
  /** Additional variables of all processes. */
  env?: Record<string, string>
}

/** Starts an apiserver, a status server and an operator in a namespace of their own. They end with the test. */
export async function startControlPlane(
  stack: Stack,
  { databaseUrl, key, namespace, baseModel, env = {} }: ControlPlaneSettings,
): Promise<ControlPlane> {
  const server = await startApiServer(stack, databaseUrl, { TRAINYARD_NAMESPACE: namespace, ...env })
  onTestFinished(server.remove)
  const status = await startStatusServer(stack, databaseUrl, { namespace, env })
  onTestFinished(status.remove)
  const operator = await startOperator(stack, { databaseUrl, namespace, env })
  onTestFinished(operator.remove)
  return {
    rest: createRest({ ...stack, url: server.url, baseModel }, key),
    restUrl: server.url,
    baseModel,
    statusUrl: status.url,
  }
}

/** The main job, with a trainer that computes nothing: a model, a job, a claim, reports, a checkpoint, and lists. */
export async function runMainJob(plane: ControlPlane, token: string): Promise<void> {
  const model = await eventually(() => plane.rest.createModel())
  await trainOnce(plane, { token, modelId: model.id })
}

interface TrainOptions {
  token: string
  modelId: string
  /** Called with the job when it is in the queue, and awaited. */
  follow?: (jobId: string) => Promise<unknown>
}

/** A model's job and its pretended trainer. No request may fail. */
export async function trainOnce(
  { rest, baseModel, statusUrl }: Omit<ControlPlane, 'restUrl'>,
  { token, modelId, follow = async () => {} }: TrainOptions,
): Promise<void> {
  const report = async (url: string, body: object) => {
    const send = () => post(statusUrl + url, token, body)
    // Trainers repeat a report whose connection breaks.
    const response = await send().catch(send)
    // There is no job to claim yet.
    if (response.status === 204) return {}
    expect([url, response.status]).toEqual([url, 200])
    return (await response.json()) as Record<string, string>
  }
  const jobId = await rest.startJob(modelId, groups)
  const followed = follow(jobId)
  followed.catch(() => {})
  let claimed: Record<string, string> = {}
  const claim = { base_model: baseModel, process_id: randomUUID(), wait_seconds: 20, gpus: 0, holding: [] }
  while (claimed.id === undefined) claimed = await report('/v1/claims', claim)
  expect(claimed.id).toBe(jobId)
  const attempt = `/v1/jobs/${jobId}/attempts/1`
  await report(`${attempt}/events`, { events: [{ seq: 0, type: 'training_started', data: { num_sequences: 2 } }] })
  await report(`${attempt}/heartbeat`, {})
  const uri = `artifact:///checkpoints/${claimed.checkpoint_id}`
  await report(`${attempt}/checkpoint`, { uri, digest: 'ab'.repeat(32), metrics: { loss: 1 } })
  const events = await rest.waitForEnd(jobId)
  await followed
  expect(events.map(({ type }) => type)).toEqual(['training_started', 'training_ended'])
  expect((await rest.listCheckpoints(modelId)).map(({ step }) => step)).toContain(1)
  const ids = async (list: string) => (await rest.listAll<{ id: string }>(list)).map(({ id }) => id)
  expect(await ids('/v1/preview/models')).toContain(modelId)
  expect(await ids('/v1/preview/training-jobs')).toContain(jobId)
}

/** Creates a namespace with a base model without pods. */
export async function createBaseModel(
  stack: Stack,
  { namespace, baseModel }: { namespace: string; baseModel: string },
) {
  await createNamespace(stack, namespace)
  await stack.apply(describeBaseModel(namespace, 'base', { names: [baseModel] }))
}
