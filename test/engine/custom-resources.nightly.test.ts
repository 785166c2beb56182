import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Model, TrainingJob } from '../../crds/generated.ts'
import { apiVersion } from '../../crds/names.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import { putPayload } from '../../artifacts/store/payloads.ts'
import type { StoredArtifact } from '../../artifacts/store/store.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, sampleGroup } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const made: string[] = []
let entity: string
let baseModelName: string
let input: StoredArtifact
// It is what the first tests look at, in their order.
let trained: Awaited<ReturnType<typeof trainWithKubectl>>

beforeAll(async () => {
  const model = await rest.createModel()
  entity = model.entity
  baseModelName = (await stack.kubectl('get', 'bm', '-o', 'jsonpath={.items[0].metadata.name}')).trim()
  const group = await sampleGroup(rest, model.address, 'Tell me about the sea.', (_, index) => index % 2)
  const payload = new TextEncoder().encode(JSON.stringify({ trajectory_groups: [group] }))
  input = await putPayload(new FolderStore(stack.artifacts), entity, payload)
  trained = await trainWithKubectl()
})

afterAll(async () => {
  if (made.length > 0) await stack.kubectl('delete', '--ignore-not-found', '--wait=false', ...made)
})

const unique = (prefix: string) => `${prefix}-${randomUUID().slice(0, 8)}`

function describeModel(name: string, spec: Partial<Model['spec']> = {}): Model {
  made.push(`models.trainyard.dev/${name}`)
  const defaults = { entity, project: 'tests', name, baseModelRef: { name: baseModelName } }
  return { apiVersion, kind: 'Model', metadata: { name }, spec: { ...defaults, ...spec } }
}

function describeJob(model: string, spec: Partial<TrainingJob['spec']> = {}, name = unique('job')): TrainingJob {
  made.push(`tj/${name}`)
  const inputRef = { uri: input.uri, digest: input.digest }
  const defaults = { modelRef: { name: model }, method: 'RL' as const, inputRef, config: { learningRate: 0.001 } }
  return { apiVersion, kind: 'TrainingJob', metadata: { name }, spec: { ...defaults, ...spec } }
}

async function read<T>(kind: string, name: string): Promise<T> {
  return JSON.parse(await stack.kubectl('get', kind, name, '-o', 'json')) as T
}

const readJob = (name = '') => read<TrainingJob>('tj', name)
const readModel = (name: string) => read<Model>('models.trainyard.dev', name)

/** Waits until the job has this phase, and returns it. */
const waitForPhase = (name: string | undefined, phase: string) =>
  eventually(async () => {
    const job = await readJob(name)
    expect(job.status?.phase).toBe(phase)
    return job
  })

/** Trains a model and a job that were created with kubectl. */
async function trainWithKubectl() {
  const name = unique('kubectl')
  const job = describeJob(name)
  // The job is created first, and waits for its model.
  await stack.apply(job)
  await stack.apply(describeModel(name))
  await stack.kubectl('wait', '--for=condition=Complete', `tj/${job.metadata.name}`, '--timeout=120s')
  const model = await eventually(async () => {
    const seen = await readModel(name)
    expect(seen.status?.latestStep).toBe(1)
    return seen
  })
  return { job, finished: await readJob(job.metadata.name), model }
}

const patch = (resource: string, spec: object) =>
  stack.kubectl('patch', resource, '--type=merge', '-p', JSON.stringify({ spec }))

test('a model and a job from kubectl train like those of REST, and are in its lists', async () => {
  const { finished, model } = trained
  const { id = '' } = finished.status ?? {}
  expect(finished.status).toMatchObject({
    phase: 'Succeeded',
    reason: 'Succeeded',
    attempt: 1,
    checkpoint: { step: 1 },
  })
  expect((await rest.listEvents(id)).at(-1)?.type).toBe('training_ended')
  expect((await rest.listCheckpoints(model.status?.id ?? '')).map(({ step }) => step)).toEqual([1])
  const address = `${model.status?.servedName}:step1`
  expect((await rest.sample(address, 'Hello'))[0]?.message.role).toBe('assistant')
})

test('kubectl get and kubectl describe show what happened', async () => {
  const { job, model } = trained
  const name = job.metadata.name ?? ''
  const [head, row] = (await stack.kubectl('get', 'tj', name)).trim().split('\n')
  expect(head?.split(/\s+/)).toEqual(['NAME', 'PHASE', 'MODEL', 'METHOD', 'PROGRESS', 'ATTEMPT', 'REASON', 'AGE'])
  expect(row?.split(/\s+/).slice(0, 4)).toEqual([name, 'Succeeded', model.metadata.name, 'RL'])
  expect(row).toMatch(/(\d+)\/\1 +1 +Succeeded/)
  const story = await stack.kubectl('describe', 'tj', name)
  const reported = ['Accepted', 'Started', 'Succeeded'].map((reason) => story.lastIndexOf(` ${reason} `))
  expect(Math.min(...reported)).toBeGreaterThan(story.indexOf('Events:'))
})

test('a finished job stays finished without its trainer, and a changed specification replaces the trainer', async () => {
  const { finished, model } = trained
  const podName = () =>
    stack.kubectl('get', 'pod', '-l', 'trainyard.dev/component=trainer', '-o', 'jsonpath={.items[*].metadata.name}')
  const before = await podName()
  await patch(`bm/${baseModelName}`, { trainer: { env: [{ name: 'TEST_MARK', value: unique('mark') }] } })
  await eventually(async () => {
    expect(await podName()).not.toContain(before)
    await stack.kubectl('wait', '--for=condition=Ready', `bm/${baseModelName}`, '--timeout=1s')
  })
  expect(await readJob(finished.metadata.name)).toMatchObject({ status: finished.status })
  expect((await rest.listCheckpoints(model.status?.id ?? '')).map(({ step }) => step)).toEqual([1])
})

test('a finished job that is deleted and applied again does not train, and has its status again', async () => {
  const { job, finished, model } = trained
  const name = job.metadata.name ?? ''
  const events = await rest.listEvents(finished.status?.id ?? '')
  await stack.kubectl('delete', 'tj', name)
  await stack.apply(job)
  const again = await waitForPhase(name, 'Succeeded')
  expect(again.status).toMatchObject({ id: finished.status?.id, reason: 'AlreadyRan', checkpoint: { step: 1 } })
  expect(await rest.listEvents(finished.status?.id ?? '')).toEqual(events)
  expect((await rest.listCheckpoints(model.status?.id ?? '')).map(({ step }) => step)).toEqual([1])
})

test('a model that is deleted is hidden; applied again it is the same one, with its steps', async () => {
  const { model } = trained
  const { name = '' } = model.metadata
  const id = model.status?.id ?? ''
  await stack.kubectl('delete', 'models.trainyard.dev', name)
  await eventually(async () => {
    expect((await rest.send('GET', `/v1/preview/models/${id}/checkpoints`)).status).toBe(404)
  })
  await stack.apply(describeModel(name))
  await eventually(async () => expect((await readModel(name)).status).toMatchObject({ id, latestStep: 1 }))
  expect((await rest.listCheckpoints(id)).map(({ step }) => step)).toEqual([1])
})

test('a name belongs to one resource; another one gets NameConflict', async () => {
  const [first, second] = [unique('first'), unique('second')]
  await stack.apply(describeModel(first))
  await eventually(async () => expect((await readModel(first)).status?.id).toBeDefined())
  await stack.apply(describeModel(second, { name: first }))
  await eventually(async () => expect((await readModel(second)).status?.reason).toBe('NameConflict'))
  expect((await readModel(second)).status?.id).toBeUndefined()
})

test('the status of a job says what it waits for, and a cancellation is final', async () => {
  const model = unique('late')
  const job = describeJob(model)
  const name = job.metadata.name ?? ''
  await stack.apply(job)
  await eventually(async () => expect((await readJob(name)).status?.reason).toBe('ModelNotFound'))
  await patch(`tj/${name}`, { cancel: true })
  await expect(patch(`tj/${name}`, { cancel: false })).rejects.toThrow('a cancelled job stays cancelled')
  await stack.apply(describeModel(model))
  const cancelled = await waitForPhase(name, 'Cancelled')
  expect((await rest.listEvents(cancelled.status?.id ?? '')).map(({ type }) => type)).toEqual(['training_failed'])
})

test("a job that names another entity's input fails with the reason", async () => {
  const model = unique('thief')
  await stack.apply(describeModel(model))
  const inputRef = { uri: `artifact:///payloads/${unique('other')}/a.json`, digest: '0'.repeat(64) }
  const job = describeJob(model, { inputRef })
  await stack.apply(job)
  const failed = await waitForPhase(job.metadata.name, 'Failed')
  expect(failed.status?.failure).toMatchObject({ category: 'User', reason: 'InputNotAllowed' })
})

test.each<[string, Partial<TrainingJob['spec']>, string]>([
  ['modelRef', { modelRef: { name: 'other' } }, 'modelRef is immutable'],
  ['inputRef', { inputRef: { uri: 'artifact:///payloads/a/b.json', digest: '1'.repeat(64) } }, 'inputRef is immutable'],
  ['config', { config: { learningRate: 0.5 } }, 'config is immutable'],
])('the input of a job cannot be changed: %s', async (_, change, sentence) => {
  const job = describeJob(unique('nowhere'))
  await stack.apply(job)
  await expect(patch(`tj/${job.metadata.name}`, change)).rejects.toThrow(sentence)
})

test('a config cannot be added or removed', async () => {
  const job = describeJob(unique('nowhere'))
  await stack.apply(job)
  const { metadata } = job
  const remove = JSON.stringify([{ op: 'remove', path: '/spec/config' }])
  const removed = stack.kubectl('patch', `tj/${metadata.name}`, '--type=json', '-p', remove)
  await expect(removed).rejects.toThrow('config is immutable')
})

test.each<[string, object]>([
  ['an unknown method', { method: 'DPO' }],
  ['an unknown value of a setting', { config: { importanceSamplingLevel: 'word' } }],
  ['an invalid digest', { inputRef: { uri: 'artifact:///payloads/a/b.json', digest: 'abc' } }],
  ['an address outside of the store', { inputRef: { uri: 'file:///etc/passwd', digest: '0'.repeat(64) } }],
])('the schema rejects %s', async (_, change) => {
  const job = describeJob(unique('nowhere'), change)
  await expect(stack.apply(job)).rejects.toThrow('is invalid')
})

test("a model's name and base model cannot be changed", async () => {
  const name = unique('fixed')
  await stack.apply(describeModel(name))
  const resource = `models.trainyard.dev/${name}`
  await expect(patch(resource, { name: 'other' })).rejects.toThrow("a model's name is immutable")
  await expect(patch(resource, { baseModelRef: { name: 'other' } })).rejects.toThrow('baseModelRef is immutable')
})
