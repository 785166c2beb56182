import { afterAll, beforeAll, expect, test } from 'vitest'
import { TrainyardClient } from '../../local/demo/client.ts'
import { tasks } from '../../local/demo/rewards.ts'
import { runMainJob } from '../../local/demo/run.ts'
import { eventually } from '../support/eventually.ts'
import { KubectlClient } from './kubectl-client.ts'
import { restrictedNamespace, startNode, type KubeNode } from '../support/kubelet/node.ts'
import { readParts } from '../support/kubelet/parts.ts'
import { createRelease, namespace, parts, type Release } from '../support/kubelet/release.ts'
import { steadyClients } from './steady-requests.ts'
import { startRequests } from '../support/request-load.ts'
import { createRest, sampleGroup, type Rest } from '../support/rest.ts'

const baseModel = 'trainyard/tiny-chat'
const warm = tasks.find(({ name }) => name === 'warm')!
const two = { 'apiserver.replicas': 2, 'operator.replicas': 2, 'statusServer.replicas': 2 }
const longMs = 900_000
const talk = [
  { role: 'user', content: 'Name a colour.' },
  { role: 'assistant', content: 'red' },
]

let node: KubeNode
let kubectlPath: string
let release: Release
let url: string
let key: string
let rest: Rest
let model: Awaited<ReturnType<Rest['createModel']>>

beforeAll(async () => {
  const nodeParts = await readParts()
  kubectlPath = nodeParts.installation.controlPlane.kubectl
  node = await startNode(nodeParts)
  release = createRelease(node)
  await node.apply(restrictedNamespace(namespace))
})

afterAll(() => node?.remove())

const countPods = async (selector: string) =>
  (await node.kubectl('get', 'pods', '-n', namespace, '-l', selector, '-oname')).trim().split('\n').filter(Boolean)
    .length

const chat = () => rest.sample(model.address, 'Name a colour.', { max_completion_tokens: 8 })
const listSteps = async () => (await rest.listCheckpoints(model.id)).map(({ step }) => step)

/** A job that trains for some time. */
async function startLongJob(): Promise<string> {
  const group = await sampleGroup(rest, model.address, 'Tell me about the sea.', (_, index) => index % 2)
  const job = await rest.startJob(model.id, Array(60).fill(group))
  await eventually(async () => expect(await readState(job)).toBe('Running'), longMs)
  return job
}

const readState = async (job: string) =>
  (await rest.call<{ state: string }>('GET', `/v1/preview/training-jobs/${job}`)).state

/** The job has one end, and its model one step more than before. */
async function expectOneEnd(job: string, before: number[]): Promise<void> {
  const events = await eventually(() => rest.waitForEnd(job), longMs)
  const ends = events.map(({ type }) => type).filter((type) => /^training_(ended|failed)$/.test(type))
  expect(ends).toEqual(['training_ended'])
  expect(await listSteps()).toEqual([...before, before.length + 1])
}

/** Kills the first process of a component's container, as the kernel does when memory is short. */
async function killContainer(selector: string): Promise<void> {
  const field = '-ojsonpath={.items[0].status.containerStatuses[0].containerID}'
  const id = (await node.kubectl('get', 'pods', '-n', namespace, '-l', selector, field)).replace('containerd://', '')
  await node.run('ctr', '-n', 'k8s.io', 'tasks', 'kill', '--signal', 'SIGKILL', id.trim())
}

test('with engines at zero, Helm waits until all is ready, in a namespace that enforces restricted', async () => {
  await release.upgrade({ 'baseModels.tiny-chat.engine.replicas': 0, 'baseModels.tiny-chat.trainer.warm.min': 0 })
  for (const part of parts) {
    await node.kubectl('rollout', 'status', '-n', namespace, `deployment/trainyard-${part}`, '--timeout=1m')
  }
  url = await release.findUrl()
  key = await release.administrate('key', 'team')
  rest = createRest({ url, apiKey: key, baseModel })
  model = await eventually(() => rest.createModel())
})

test('the administrator pauses the jobs of all entities in the cluster, and resumes them', async () => {
  const group = { trajectories: [1, 0].map((reward) => ({ messages_and_choices: talk, reward })) }
  await release.administrate('queue', 'pause')
  expect(await release.administrate('queue', 'list')).toMatch(/the administrator +all entities$/)
  const job = await rest.startJob(model.id, [group])
  const readReason = async () =>
    (await rest.call<{ queue: { reason: string } | null }>('GET', `/v1/preview/training-jobs/${job}`)).queue?.reason
  await eventually(async () => expect(await readReason()).toBe('Paused'))
  await release.administrate('queue', 'resume')
  await eventually(async () => expect(await readReason()).not.toBe('Paused'))
  await rest.call('POST', `/v1/preview/training-jobs/${job}/cancel`)
})

test('with the defaults of a trial, engine and trainer become ready, and answer and train', async () => {
  await release.upgrade({})
  await release.waitForBaseModel()
  await eventually(chat, longMs)
  expect(await countPods('trainyard.dev/component=engine')).toBe(1)
  const job = await startLongJob()
  await expectOneEnd(job, [])
})

test('the rewards of the main job rise', async () => {
  const client = new TrainyardClient(url, key)
  const { rewards } = await runMainJob(client, { task: warm, steps: 12, baseModel, print: console.log })
  expectRise(rewards)
})

test('the rewards of jobs that kubectl makes rise', async () => {
  const client = new KubectlClient(node, { url, key, kubectl: kubectlPath })
  const { rewards } = await runMainJob(client, { task: warm, steps: 12, baseModel, print: console.log })
  expectRise(rewards)
})

function expectRise(rewards: number[]): void {
  const last = rewards.slice(-3)
  const mean = last.reduce((sum, reward) => sum + reward, 0) / last.length
  expect(mean).toBeGreaterThan((rewards[0] ?? 1) + warm.promisedRise)
}

test('a rolling upgrade under load fails no request, and the job that runs ends once', async () => {
  await release.upgrade(two)
  const before = await listSteps()
  const { id: modelId } = await rest.createModel()
  const job = await startLongJob()
  const load = startRequests(steadyClients({ url, key, rest, baseModel, modelId, jobId: job }))
  await release.upgrade({ ...two, logLevel: 'debug' })
  const counts = { ...load.counts }
  await eventually(() => {
    for (const [kind, count] of Object.entries(counts)) expect(load.counts[kind], kind).toBeGreaterThan(count)
  }, longMs)
  await load.stop()
  console.log('answers during the upgrade', load.counts)
  expect(load.failures).toEqual([])
  await expectOneEnd(job, before)
})

test.each([
  ['engine', 'trainyard.dev/component=engine'],
  ['trainer', 'trainyard.dev/component=trainer'],
  ['operator', 'app.kubernetes.io/component=operator'],
])('a job survives the kill of the %s', async (_, selector) => {
  const before = await listSteps()
  const job = await startLongJob()
  await killContainer(selector)
  await expectOneEnd(job, before)
  await eventually(chat, longMs)
})

test('a job and all containers survive the kill of kubelet', async () => {
  const before = await listSteps()
  const restarts = '-ojsonpath={.items[*].status.containerStatuses[*].restartCount}'
  const restartsBefore = await node.kubectl('get', 'pods', '-n', namespace, restarts)
  const job = await startLongJob()
  await node.killProgram('kubelet')
  await expectOneEnd(job, before)
  await node.kubectl('wait', '--for=condition=Ready', 'node/local', '--timeout=5m')
  expect(await node.kubectl('get', 'pods', '-n', namespace, restarts)).toBe(restartsBefore)
})

test('a rollback returns to the second revision, and keeps what was trained', async () => {
  const before = await listSteps()
  await release.rollback(2)
  const deployment = await node.kubectl('get', '-n', namespace, 'deployment/trainyard-apiserver', '-ojson')
  expect(deployment).not.toContain('"debug"')
  await eventually(async () => expect(await listSteps()).toEqual(before), longMs)
  await eventually(chat, longMs)
})

test('after an uninstallation and a new installation, keys and models are there again', async () => {
  const before = await listSteps()
  await release.uninstall()
  await eventually(async () => expect(await node.kubectl('get', 'pods', '-n', namespace, '-oname')).toBe(''), longMs)
  await release.upgrade({})
  await release.waitForBaseModel()
  url = await release.findUrl()
  rest = createRest({ url, apiKey: key, baseModel })
  await eventually(async () => expect(await listSteps()).toEqual(before), longMs)
  await eventually(chat, longMs)
})
