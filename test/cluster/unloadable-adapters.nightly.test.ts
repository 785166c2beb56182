import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { Model } from '../../crds/generated.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { addEnginePod, listenAsEngine, randomAddress } from '../support/fake-engine.ts'
import { ModelRows } from '../support/model-rows.ts'
import { startOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()
const apiVersion = 'trainyard.dev/v1alpha1'

const describeBaseModel = (name: string, namespace: string, more: { engine?: object; lora?: object } = {}) => ({
  apiVersion,
  kind: 'BaseModel',
  metadata: { name, namespace },
  spec: {
    names: [name],
    source: { path: 'models/none' },
    engine: { replicas: 0, ...more.engine },
    trainer: { warm: { min: 0 } },
    ...(more.lora && { lora: more.lora }),
  },
})

test('a base model whose engines take no adapter of its rank is rejected', async () => {
  const apply = (maxLoraRank: number | undefined, rank: number) => {
    const engine = maxLoraRank === undefined ? {} : { maxLoraRank }
    return stack.apply(describeBaseModel('ranks', 'trainyard', { engine, lora: { rank } }), '--dry-run=server')
  }
  await expect(apply(16, 32)).rejects.toThrow('engine.maxLoraRank must be at least lora.rank')
  for (const [max, rank] of [
    [undefined, 32],
    [32, 32],
    [64, 32],
  ] as const)
    await apply(max, rank)
})

test('a model is Degraded while an engine cannot load its newest step, and tried again', async () => {
  const { namespace, database, baseModel } = await makeEnvironment()
  const answers = { refused: 0, loaded: 0, loads: false }
  await serveEngine(namespace, baseModel, (request, response) => {
    // What is loaded, and what to keep.
    if (request.method !== 'POST') {
      response.end('{"data": []}')
      return
    }
    answers[answers.loads ? 'loaded' : 'refused']++
    const message = "LoRA adapter 'a' was found but could not be loaded."
    response.writeHead(answers.loads ? 200 : 400, { 'content-type': 'application/json' })
    response.end(answers.loads ? '{}' : JSON.stringify({ error: { message, type: 'BadRequestError', code: 400 } }))
  })
  const operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
  onTestFinished(operator.remove)
  await stack.apply({
    apiVersion,
    kind: 'Model',
    metadata: { name: 'email', namespace },
    spec: { entity: 'team', project: 'p', name: 'email', baseModelRef: { name: baseModel } },
  })
  const { id = '' } = await waitForModel(namespace, 'Degraded', 'False')
  const jobId = await addTrainedJob(new ModelRows(database.pool, stack.artifacts), id)

  const degraded = await waitForModel(namespace, 'Degraded', 'True')
  expect(degraded).toMatchObject({ reason: 'AdapterNotLoaded', latestStep: 1 })
  await eventually(async () => {
    const { rows } = await database.pool.query('SELECT state FROM training.jobs WHERE id = $1', [jobId])
    expect(rows).toEqual([{ state: 'Succeeded' }])
  })
  expect(answers.refused).toBe(3)

  answers.loads = true
  await database.pool.query(`UPDATE training.engine_adapters SET seen_at = now() - interval '2 minutes'`)
  // A changed pod is asked at once.
  await stack.kubectl('annotate', 'pod', 'engine', '-n', namespace, 'test=changed')
  expect(await waitForModel(namespace, 'Degraded', 'False')).toMatchObject({ reason: 'Ready' })
  expect(answers.loaded).toBe(1)
})

async function makeEnvironment() {
  const name = `unloadable-${randomUUID().slice(0, 8)}`
  const database = await createTestDatabase()
  await createNamespace(stack, name)
  onTestFinished(async () => {
    await removeNamespace(stack, name)
    await database.drop()
  })
  await stack.apply(describeBaseModel(name, name))
  return { namespace: name, database, baseModel: name }
}

async function serveEngine(namespace: string, baseModel: string, answer: RequestListener) {
  const address = randomAddress()
  const engine = await listenAsEngine(address, answer)
  onTestFinished(() => {
    engine.closeAllConnections()
    engine.close()
  })
  await addEnginePod({ kubectl: stack.kubectl, namespace, baseModel, address })
}

async function waitForModel(namespace: string, type: string, status: string) {
  return eventually(async () => {
    const model = JSON.parse(
      await stack.kubectl('get', 'models.trainyard.dev', 'email', '-n', namespace, '-o', 'json'),
    ) as Model
    expect(model.status?.conditions).toContainEqual(expect.objectContaining({ type, status }))
    return model.status!
  })
}

async function addTrainedJob(rows: ModelRows, modelId: string): Promise<string> {
  const jobId = await rows.addJob(modelId, 'Starting')
  await rows.addCheckpoint(modelId, 1, { jobId })
  await rows.pool.query(`UPDATE training.jobs SET state = 'Publishing' WHERE id = $1`, [jobId])
  return jobId
}
