import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import type { Server, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { trainOnce } from '../support/control-plane.ts'
import { eventually } from '../support/eventually.ts'
import { addEnginePod, listenAsEngine } from '../support/fake-engine.ts'
import { createHelm } from '../support/helm.ts'
import { nodeEnv } from '../support/node-env.ts'
import { startOwnCluster, type OwnCluster } from '../support/own-cluster.ts'
import { chatClients, followToEnd, jobClient, startRequests, type RequestLoad } from '../support/request-load.ts'
import { createRest } from '../support/rest.ts'
import { makeTrainerToken } from '../support/status-server.ts'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

interface ChatRequest {
  model?: string
  stream?: boolean
  /** How many words it answers. */
  max_completion_tokens?: number
}

/** The time between two words of the engine. */
const wordMs = 50
const common = { id: 'chat', created: 0 }

/** A fake engine that answers chats word by word, as long as the client asks, and knows each adapter that it was asked for. */
function createChattingEngine(): RequestListener {
  const adapters = new Set<string>()
  return (request, response) => void answer(adapters, request, response)
}

async function answer(adapters: Set<string>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    const data = ['base', ...adapters].map((id) => ({ id }))
    return sendJson(response, { object: 'list', data })
  }
  const asked = (await json(request)) as ChatRequest
  const { model } = asked
  if (model === undefined) return sendJson(response, {})
  adapters.add(model)
  await (asked.stream ? streamWords(asked, response) : sendWords(asked, response))
}

async function sendWords({ model, max_completion_tokens: count = 1 }: ChatRequest, response: ServerResponse) {
  await delay(count * wordMs)
  const message = { role: 'assistant', content: 'word '.repeat(count) }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  sendJson(response, { ...common, object: 'chat.completion', model, choices })
}

async function streamWords({ model, max_completion_tokens: count = 1 }: ChatRequest, response: ServerResponse) {
  response.setHeader('content-type', 'text/event-stream')
  for (let word = 1; word <= count; word++) {
    const choices = [{ index: 0, delta: { content: 'word ' }, finish_reason: word === count ? 'stop' : null }]
    response.write(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', model, choices })}\n\n`)
    await delay(wordMs)
  }
  response.end('data: [DONE]\n\n')
}

function sendJson(response: ServerResponse, value: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

const run = promisify(execFile)
const namespace = 'trainyard'
const baseModel = 'trainyard/tiny-chat'
const parts = ['apiserver', 'operator', 'status-server']
const selector = 'app.kubernetes.io/name=trainyard,app.kubernetes.io/component in (apiserver,operator,status-server)'
const withoutPods = { engine: { replicas: 0 }, trainer: { warm: { min: 0 } } }
const two = { replicas: 2 }

let cluster: OwnCluster
let helm: ReturnType<typeof createHelm>
let engine: Server
let load: RequestLoad
let rest: ReturnType<typeof createRest>
let postedModel: string
const posted: string[] = []

/** The values of a revision. The longest answer of the load takes twenty seconds, and longer on a loaded machine. */
function valuesOf(controlPods: object): object {
  const values = cluster.values as { apiserver: object }
  return {
    ...values,
    apiserver: { ...values.apiserver, ...two, preStopSeconds: 3, drainSeconds: 300 },
    operator: two,
    statusServer: { ...two, preStopSeconds: 3 },
    baseModels: {
      'tiny-chat': withoutPods,
      // Its jobs stay in the queue.
      waiting: { names: ['waiting'], source: { path: 'models/none' }, ...withoutPods },
    },
    controlPods: {
      env: [{ name: 'OTHER', valueFrom: { secretKeyRef: { name: 'others', key: 'value' } } }],
      ...controlPods,
    },
  }
}

/** Writes a Secret that the chart does not make, and that all parts read when they start. */
const writeSecret = (value: string) =>
  cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'others', namespace }, stringData: { value } })

interface PodView {
  metadata: { name: string }
  status: {
    conditions: { type: string; status: string }[]
    containerStatuses?: { state: { waiting?: { reason: string } } }[]
  }
}

async function listPods(): Promise<PodView[]> {
  const args = ['get', 'pods', '-n', namespace, '-l', selector, '-ojson']
  return (JSON.parse(await cluster.kubectl(...args)) as { items: PodView[] }).items
}

const nameOf = ({ metadata }: PodView) => metadata.name
const isReady = ({ status }: PodView) =>
  status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True')
const waitReasonOf = ({ status }: PodView) => status.containerStatuses?.[0]?.state.waiting?.reason

/** Waits until two new pods of each part are ready, and the old ones have ended. */
async function waitForRollout(): Promise<void> {
  for (const part of parts) {
    await cluster.kubectl('rollout', 'status', '-n', namespace, `deployment/trainyard-${part}`, '--timeout=5m')
  }
  await eventually(async () => expect(await listPods()).toHaveLength(2 * parts.length), 180_000)
}

/** No request has failed, and clients of each kind got at least so many more answers since. */
async function expectAnswers(since: Record<string, number>): Promise<void> {
  await eventually(() => {
    for (const [kind, count] of Object.entries(since)) expect(load.counts[kind], kind).toBeGreaterThan(count)
  }, 180_000)
  expect(load.failures).toEqual([])
}

const makeKey = async () => {
  const env = { ...nodeEnv, DATABASE_URL: cluster.databaseUrl }
  const { stdout } = await run(process.execPath, ['apiserver/accounts/admin/main.ts', 'key', 'team'], { env })
  return stdout.trim()
}

const readClusterIP = async () =>
  (
    await cluster.kubectl('get', '-n', namespace, 'service/trainyard-status-server', '-ojsonpath={.spec.clusterIP}')
  ).trim()

/** A job whose trainer reports, and two clients that follow its events. */
async function trainAndFollow(key: string, token: string): Promise<void> {
  const target = { url: cluster.url, key, rest, model: baseModel }
  const model = await rest.createModel()
  const follow = async (jobId: string) => {
    const [first, second] = await Promise.all([followToEnd(target, jobId), followToEnd(target, jobId)])
    const listed = await rest.listEvents(jobId)
    expect([first, second]).toEqual([listed, listed])
  }
  const statusUrl = `http://${await readClusterIP()}:8082`
  await trainOnce({ rest, baseModel, statusUrl }, { token, modelId: model.id, follow })
}

beforeAll(async () => {
  cluster = await startOwnCluster()
  helm = createHelm(cluster)
  await cluster.kubectl('create', 'namespace', namespace)
  await writeSecret('one')
  await helm.upgrade(namespace, valuesOf({}))
  await waitForRollout()
  const address = `127.${randomInt(200, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
  engine = await listenAsEngine(address, createChattingEngine())
  await addEnginePod({ kubectl: cluster.kubectl, namespace, address, baseModel: 'tiny-chat' })
  const key = await makeKey()
  const url = cluster.url
  rest = createRest({ url, apiKey: key, baseModel })
  const target = { url, key, rest, model: baseModel }
  const token = await makeTrainerToken(cluster, namespace)
  await eventually(() => rest.createModel(), 120_000)
  const waiting = createRest({ url, apiKey: key, baseModel: 'waiting' })
  postedModel = (await eventually(() => waiting.createModel(), 120_000)).id
  await eventually(() => rest.sample(baseModel, 'a'), 120_000)
  load = startRequests({
    ...chatClients(target),
    post: [jobClient(target, { modelId: postedModel, posted })],
    train: [() => trainAndFollow(key, token)],
  })
})

afterAll(async () => {
  await load?.stop()
  engine?.closeAllConnections()
  engine?.close()
  await cluster?.remove()
})

test.each([1, 2, 3])('upgrade %i replaces all pods, and no request fails', async (revision) => {
  const before = new Set((await listPods()).map(nameOf))
  await helm.upgrade(namespace, valuesOf({ annotations: { revision: String(revision) } }))
  await waitForRollout()
  expect((await listPods()).map(nameOf).filter((name) => before.has(name))).toEqual([])
  await expectAnswers({ ...load.counts })
})

test('a changed Secret of others replaces all pods, and no request fails', async () => {
  const before = new Set((await listPods()).map(nameOf))
  await writeSecret('two')
  await eventually(async () => {
    expect((await listPods()).map(nameOf).filter((name) => before.has(name))).toEqual([])
  }, 600_000)
  await waitForRollout()
  await expectAnswers({ ...load.counts })
})

test.each([
  ['whose image is missing', { images: { control: { tag: 'missing' } } }, /^ErrImagePull|ImagePullBackOff$/],
  [
    'whose processes crash',
    { controlPods: { env: [{ name: 'NODE_OPTIONS', value: '--none' }] } },
    /^CrashLoopBackOff$/,
  ],
])('a release %s replaces no pod that works', async (_, values, reason) => {
  const before = (await listPods()).map(nameOf)
  await helm.upgrade(namespace, { ...valuesOf({}), ...values })
  await eventually(async () => {
    const reasons = (await listPods()).map(waitReasonOf).filter((found) => found !== undefined)
    expect(reasons).toHaveLength(parts.length)
    for (const found of reasons) expect(found).toMatch(reason)
  }, 180_000)
  await expectAnswers({ ...load.counts })
  expect((await listPods()).filter(isReady).map(nameOf)).toEqual(before)
  await helm.rollback(namespace, 4)
  await eventually(async () => expect((await listPods()).map(nameOf)).toEqual(before), 120_000)
})

test('each job that was posted is there once', async () => {
  await load.stop()
  expect(load.failures).toEqual([])
  const jobs = await rest.listAll<{ id: string; model_id: string }>('/v1/preview/training-jobs')
  expect(jobs.filter(({ model_id: id }) => id === postedModel).map(({ id }) => id)).toEqual(posted)
})
