import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createHelm } from '../support/helm.ts'
import { nodeEnv } from '../support/node-env.ts'
import { startOwnCluster, type OwnCluster } from '../support/own-cluster.ts'
import { createRest, sampleGroup } from '../support/rest.ts'

const run = promisify(execFile)
const namespace = 'trainyard'
const baseModel = 'trainyard/tiny-chat'
const startMs = 300_000

let cluster: OwnCluster
let helm: ReturnType<typeof createHelm>
let rest: ReturnType<typeof createRest>
let model: Awaited<ReturnType<typeof rest.createModel>>

beforeAll(async () => {
  cluster = await startOwnCluster()
  helm = createHelm(cluster)
})

afterAll(() => cluster.remove())

/** The first command that an installation prints. */
async function waitForBaseModel(): Promise<void> {
  await cluster.kubectl('wait', '-n', namespace, '--for=create', 'basemodel/tiny-chat', '--timeout=5m')
  await cluster.kubectl('wait', '-n', namespace, '--for=condition=Ready', 'basemodel/tiny-chat', '--timeout=10m')
  for (const part of ['apiserver', 'operator', 'status-server']) {
    await cluster.kubectl('rollout', 'status', '-n', namespace, `deployment/trainyard-${part}`, '--timeout=5m')
  }
}

/** The second one. The node of one machine runs no commands in containers. */
async function makeKey(): Promise<string> {
  const env = { ...nodeEnv, DATABASE_URL: cluster.databaseUrl }
  const { stdout } = await run(process.execPath, ['apiserver/accounts/admin/main.ts', 'key', 'team'], { env })
  return stdout.trim()
}

const listSteps = async () => (await rest.listCheckpoints(model.id)).map(({ step }) => step)

const chat = () =>
  rest.call('POST', '/v1/chat/completions', {
    model: model.address,
    messages: [{ role: 'user', content: 'Name a colour.' }],
    max_completion_tokens: 8,
  })

/** Gateways of a new pod look for engines first. */
const chatSoon = () => eventually(chat, startMs)

test('an installed release answers chats and trains', async () => {
  await helm.upgrade(namespace, cluster.values)
  await waitForBaseModel()
  rest = createRest({ url: cluster.url, apiKey: await makeKey(), baseModel })
  model = await eventually(() => rest.createModel(), startMs)
  const group = await sampleGroup(rest, model.address, 'Name a colour.', (_, index) => index % 2)
  const events = await rest.waitForEnd(await rest.startJob(model.id, [group]))
  expect(events.at(-1)?.type).toBe('training_ended')
  expect(await listSteps()).toEqual([1])
  await chatSoon()
})

test('a job that runs during an upgrade ends once', async () => {
  const group = await sampleGroup(rest, model.address, 'Tell me about the sea.', (_, index) => index % 2)
  const job = await rest.startJob(model.id, Array(400).fill(group))
  const readJob = () => rest.call<{ state: string }>('GET', `/v1/preview/training-jobs/${job}`)
  await eventually(async () => expect((await readJob()).state).toBe('Running'), startMs)
  await helm.upgrade(namespace, { ...cluster.values, logLevel: 'debug' })
  expect((await readJob()).state).toBe('Running')
  await waitForBaseModel()
  const events = await eventually(() => rest.waitForEnd(job), startMs)
  expect(events.filter(({ type }) => /^training_(ended|failed)$/.test(type)).map(({ type }) => type)).toEqual([
    'training_ended',
  ])
  expect(await listSteps()).toEqual([1, 2])
})

test('a rollback returns to the values of the first revision, and keeps what was trained', async () => {
  await helm.rollback(namespace, 1)
  await waitForBaseModel()
  const deployment = await cluster.kubectl('get', '-n', namespace, 'deployment/trainyard-apiserver', '-ojson')
  expect(deployment).not.toContain('"debug"')
  await eventually(async () => expect(await listSteps()).toEqual([1, 2]), startMs)
  await chatSoon()
})

test('an uninstallation ends all pods, and a reinstallation finds models and keys again', async () => {
  await helm.uninstall(namespace)
  await eventually(
    async () => expect(await cluster.kubectl('get', 'pods', '-n', namespace, '-oname')).toBe(''),
    startMs,
  )
  const finalizers = '-ojsonpath={.items[*].metadata.finalizers}'
  expect(await cluster.kubectl('get', 'models.trainyard.dev,trainingjobs', '-n', namespace, finalizers)).toBe('')

  await helm.upgrade(namespace, cluster.values)
  await waitForBaseModel()
  await eventually(async () => expect(await listSteps()).toEqual([1, 2]), startMs)
  await chatSoon()
})
