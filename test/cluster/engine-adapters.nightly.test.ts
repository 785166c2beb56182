import { setTimeout as delay } from 'node:timers/promises'
import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Model } from '../../crds/generated.ts'
import { listWantedAdapters } from '../../db/engines/wanted-adapters.ts'
import { recordAdapterUses } from '../../db/engines/adapter-uses.ts'
import { createAdapterEngine, type AdapterEngine } from './adapter-engine.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { addEnginePod, listenAsEngine } from '../support/fake-engine.ts'
import { ModelRows } from '../support/model-rows.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { describeBaseModel } from '../support/resources.ts'

const stack = useStack()
const apiVersion = 'trainyard.dev/v1alpha1'
const namespace = `adapters-${randomUUID().slice(0, 8)}`
const subnet = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`
const database = useTestDatabase()
let operator: RunningOperator
let rows: ModelRows
let addresses = 0

beforeAll(async () => {
  rows = new ModelRows(database.pool, stack.artifacts)
  await createNamespace(stack, namespace)
  operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
})
afterAll(async () => {
  await operator?.remove()
  await removeNamespace(stack, namespace)
})

/** A base model of this test alone. */
async function addBaseModel(maxCpuLoras: number): Promise<string> {
  const name = `base-${randomUUID().slice(0, 8)}`
  await stack.apply(describeBaseModel(namespace, name, { engine: { replicas: 0, maxLoras: 1, maxCpuLoras } }))
  return name
}

async function addEngine(baseModel: string): Promise<AdapterEngine & { pod: string }> {
  const engine = createAdapterEngine()
  const address = `${subnet}.${++addresses}`
  const server = await listenAsEngine(address, engine.answer)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const pod = `${baseModel}-engine-${addresses}`
  await addEnginePod({ kubectl: stack.kubectl, namespace, baseModel, address, podName: pod })
  return Object.assign(engine, { pod })
}

/** Returns the id of its row. */
async function addModel(baseModel: string, name: string, more: object = {}): Promise<string> {
  await stack.apply({
    apiVersion,
    kind: 'Model',
    metadata: { name: `${baseModel}-${name}`, namespace },
    spec: { entity: 'team', project: baseModel, name, baseModelRef: { name: baseModel }, ...more },
  })
  return eventually(async () => {
    const { status } = await readModel(baseModel, name)
    expect(status?.id).toBeDefined()
    return status?.id ?? ''
  })
}

async function readModel(baseModel: string, name: string): Promise<Model> {
  const found = await stack.kubectl('get', 'tym', `${baseModel}-${name}`, '-n', namespace, '-o', 'json')
  return JSON.parse(found) as Model
}

const findCondition = ({ status }: Model, wanted: string) => status?.conditions?.find(({ type }) => type === wanted)

/** Tells Kubernetes when the engine's container has started. */
async function setContainerStart(pod: string, startedAt: string): Promise<void> {
  const state = { running: { startedAt } }
  const container = { name: 'engine', ready: true, restartCount: 1, image: 'none', imageID: 'none', state }
  const status = JSON.stringify({ status: { containerStatuses: [container] } })
  await stack.kubectl('-n', namespace, 'patch', 'pod', pod, '--subresource=status', '--type=merge', '-p', status)
}

const askEngine = (pod: string) => stack.kubectl('annotate', 'pod', pod, '-n', namespace, `at=${Date.now()}`)

/** Ends the training of a model's step. Returns the checkpoint, when its job has ended. */
async function publish(modelId: string, step: number): Promise<string> {
  const jobId = await rows.addJob(modelId, 'Starting')
  const checkpoint = await rows.addCheckpoint(modelId, step, { jobId })
  await database.pool.query(`UPDATE training.jobs SET state = 'Publishing' WHERE id = $1`, [jobId])
  await eventually(async () => expect(await rows.readJob(jobId)).toEqual({ state: 'Succeeded' }))
  return checkpoint
}

test('rule 5: a Model counts the engines that have its newest step, and an engine that starts again has none', async () => {
  const baseModel = await addBaseModel(4)
  const modelId = await addModel(baseModel, 'email')
  const step = await rows.addCheckpoint(modelId, 1)
  const [first] = [await addEngine(baseModel), await addEngine(baseModel)]
  first.loaded.add(step)
  await setContainerStart(first.pod, '2026-01-01T00:00:00Z')
  await eventually(async () => {
    const model = await readModel(baseModel, 'email')
    expect(model.status?.engines).toEqual({ ready: 2, loaded: 1, summary: '1/2' })
    expect(findCondition(model, 'AdaptersLoaded')).toMatchObject({ status: 'False', reason: 'LoadedOnDemand' })
  })
  const wide = await stack.kubectl('get', 'tym', `${baseModel}-email`, '-n', namespace, '-o', 'wide')
  expect(wide).toMatch(/LOADED +MESSAGE/)
  expect(wide).toContain(' 1/2 ')

  first.loaded.clear()
  await setContainerStart(first.pod, '2026-01-01T00:01:00Z')
  await eventually(async () => {
    const { status } = await readModel(baseModel, 'email')
    expect(status?.engines).toEqual({ ready: 2, loaded: 0, summary: '0/2' })
  })
  await stack.kubectl('delete', 'pod', first.pod, '-n', namespace, '--force')
  await eventually(async () => {
    const { rowCount } = await database.pool.query('SELECT FROM training.engine_adapters WHERE pod_name = $1', [
      first.pod,
    ])
    expect(rowCount).toBe(0)
  })
})

test('a step of a model in use is published on every engine, that of another model on one', async () => {
  const baseModel = await addBaseModel(4)
  const [used, unused] = [await addModel(baseModel, 'used'), await addModel(baseModel, 'unused')]
  const engines = [await addEngine(baseModel), await addEngine(baseModel)]
  await eventually(async () => {
    const { status } = await readModel(baseModel, 'used')
    expect(status?.engines?.ready).toBe(2)
  })
  await recordAdapterUses(database.pool, [{ modelId: used, checkpointId: null }])
  const [usedStep, unusedStep] = [await publish(used, 1), await publish(unused, 1)]
  expect(engines.map(({ loads }) => loads.includes(usedStep))).toEqual([true, true])
  expect(engines.filter(({ loads }) => loads.includes(unusedStep))).toHaveLength(1)
  const { rows: found } = await database.pool.query(
    'SELECT count(*) FROM training.engine_adapters WHERE checkpoint_id = $1 AND error IS NULL',
    [usedStep],
  )
  expect(found).toEqual([{ count: 2 }])
})

test('rule 5: keepLoaded loads a step on every engine and again after a start, for half of the memory of engines', async () => {
  const baseModel = await addBaseModel(2)
  const [kept, beyond] = [
    await addModel(baseModel, 'kept', { keepLoaded: true }),
    await addModel(baseModel, 'beyond', { keepLoaded: true }),
  ]
  const steps = [await rows.addCheckpoint(kept, 1), await rows.addCheckpoint(beyond, 1)]
  const engine = await addEngine(baseModel)
  await eventually(async () => expect([...engine.loaded]).toEqual([steps[0]]))
  engine.loaded.clear()
  await setContainerStart(engine.pod, '2026-01-01T00:01:00Z')
  await eventually(async () => expect([...engine.loaded]).toEqual([steps[0]]))
  await eventually(async () => {
    const model = await readModel(baseModel, 'kept')
    expect(findCondition(model, 'KeptLoaded')).toMatchObject({ status: 'True' })
    expect(findCondition(model, 'AdaptersLoaded')).toMatchObject({ status: 'True', reason: 'Loaded' })
  })
  await eventually(async () =>
    expect(findCondition(await readModel(baseModel, 'beyond'), 'KeptLoaded')).toMatchObject({
      status: 'False',
      reason: 'KeepLoadedLimit',
      message: expect.stringContaining('1 other models') as string,
    }),
  )
  expect(engine.loads).not.toContain(steps[1])
  await eventually(() => expect(engine.kept).toEqual([steps[0]]))
  const newest = await publish(kept, 2)
  await eventually(() => expect(engine.kept).toEqual([newest]))
})

test('an old step is unloaded when the new one is loaded and nobody asks for the old one', async () => {
  const baseModel = await addBaseModel(4)
  const modelId = await addModel(baseModel, 'email')
  const [old, asked, newest] = [
    await rows.addCheckpoint(modelId, 1),
    await rows.addCheckpoint(modelId, 2),
    await rows.addCheckpoint(modelId, 3),
  ]
  await recordAdapterUses(database.pool, [{ modelId, checkpointId: asked }])
  const engine = await addEngine(baseModel)
  for (const id of [old, asked, newest]) engine.loaded.add(id)
  await askEngine(engine.pod)
  await eventually(async () => expect(engine.unloads).toEqual([old]))
  expect(engine.loaded).toEqual(new Set([asked, newest]))
})

test('an engine that does not answer does not delay what others have loaded', async () => {
  const baseModel = await addBaseModel(4)
  const modelId = await addModel(baseModel, 'email')
  const step = await rows.addCheckpoint(modelId, 1)
  // The status of a model changes at most every five seconds: it has been written, and once more with the step.
  await delay(11_000)
  const hanging = await addEngine(baseModel)
  const server = await listenAsEngine(`${subnet}.250`, () => {})
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await addEnginePod({
    kubectl: stack.kubectl,
    namespace,
    baseModel,
    address: `${subnet}.250`,
    podName: `${baseModel}-engine-hangs`,
  })
  hanging.loaded.add(step)
  await askEngine(hanging.pod)
  await eventually(async () => {
    const { status } = await readModel(baseModel, 'email')
    expect(status?.engines).toEqual({ ready: 2, loaded: 1, summary: '1/2' })
    // The request to the hanging engine ends after 5 s.
  }, 4_500)
})

test('an entity with many models in use takes no places of others', async () => {
  const baseModel = await addBaseModel(4)
  const ids = []
  for (let index = 0; index < 5; index++) ids.push(await addModel(baseModel, `m${index}`))
  const other = await addModel(baseModel, 'other', { entity: 'small' })
  const steps = new Map<string, string>()
  for (const id of [...ids, other]) steps.set(id, await rows.addCheckpoint(id, 1))
  await recordAdapterUses(database.pool, [{ modelId: other, checkpointId: null }])
  for (const modelId of ids) await recordAdapterUses(database.pool, [{ modelId, checkpointId: null }])
  const { inUse } = await listWantedAdapters(database.pool, baseModel, 4)
  expect(inUse).toHaveLength(4)
  expect(inUse.slice(0, 2)).toContain(steps.get(other))
})
