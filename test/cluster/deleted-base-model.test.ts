import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { BaseModel, Model, TrainingJob } from '../../crds/generated.ts'
import { apiVersion } from '../../crds/names.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const namespace = 'trainyard'
const name = `gone-${randomUUID().slice(0, 8)}`
const baseName = `${name}/base`

const describeBaseModel = (path: string, annotations?: Record<string, string>): BaseModel => ({
  apiVersion,
  kind: 'BaseModel',
  metadata: { name, namespace, ...(annotations && { annotations }) },
  spec: { names: [baseName], source: { path }, engine: { replicas: 0 }, trainer: { warm: { min: 0 } } },
})

const describeModel = (): Model => ({
  apiVersion,
  kind: 'Model',
  metadata: { name, namespace },
  spec: { entity: 'gone', project: 'tests', name, baseModelRef: { name } },
})

const describeJob = (): TrainingJob => ({
  apiVersion,
  kind: 'TrainingJob',
  metadata: { name, namespace },
  spec: {
    modelRef: { name },
    method: 'RL',
    inputRef: { uri: 'artifact:///payloads/gone/a.json', digest: '0'.repeat(64) },
  },
})

const read = async <T>(kind: string) =>
  JSON.parse(await stack.kubectl('get', kind, name, '-n', namespace, '-o', 'json')) as T
const readModel = async () => (await read<Model>('models.trainyard.dev')).status
const readJob = async () => (await read<TrainingJob>('tj')).status
const readAccepted = async () => {
  const { status } = await read<BaseModel>('bm')
  return status?.conditions?.find(({ type }) => type === 'Accepted')
}
const remove = (kind: string) => stack.kubectl('delete', kind, name, '-n', namespace, '--ignore-not-found')

let pool: Pool
let own: Rest
beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 1)
  own = createRest(stack, await addKey(pool, 'gone'))
  await stack.apply(describeBaseModel('models/none'))
  await stack.apply(describeModel())
  await stack.apply(describeJob())
  await eventually(async () => expect(await readJob()).toMatchObject({ reason: 'WaitingForTrainer' }))
})
afterAll(async () => {
  await remove('tj')
  await remove('models.trainyard.dev')
  await remove('bm')
  await pool.end()
})

test('the models of a deleted BaseModel keep their ids and wait, their jobs say so, and all goes on when it is back', async () => {
  const id = (await readModel())?.id
  await remove('bm')
  await eventually(async () => {
    expect(await readModel()).toMatchObject({ id, checkpoints: 0, reason: 'BaseModelNotFound' })
    expect(await readJob()).toMatchObject({
      phase: 'Queued',
      reason: 'BaseModelNotFound',
      message: `No BaseModel serves ${baseName}, the base of its model. It waits until one is there again.`,
    })
  })
  const { queue } = await own.call<{ queue: object }>('GET', `/v1/preview/training-jobs/${(await readJob())?.id}`)
  expect(queue).toMatchObject({ position: 1, reason: 'BaseModelNotFound' })
  const refused = await rest.send('POST', '/v1/preview/models', { base_model: baseName })
  expect(refused.status).toBe(422)

  await stack.apply(describeBaseModel('models/none'))
  await eventually(async () => {
    expect(await readModel()).toMatchObject({ id, reason: 'EngineNotReady' })
    expect(await readJob()).toMatchObject({ phase: 'Queued', reason: 'WaitingForTrainer' })
  })
})

test('a BaseModel with other weights does not serve the models of an earlier one, unless its admin says that they are equal', async () => {
  await remove('bm')
  await stack.apply(describeBaseModel('models/other'))
  await eventually(async () =>
    expect(await readAccepted()).toMatchObject({
      status: 'False',
      reason: 'SourceChanged',
      message: expect.stringMatching(/^Models of this name \(1\) .*"path":"models\/none"/) as string,
    }),
  )
  await eventually(async () => {
    expect(await readModel()).toMatchObject({ reason: 'BaseModelNotAccepted' })
    expect(await readJob()).toMatchObject({ reason: 'BaseModelNotFound' })
  })
  await stack.apply(describeBaseModel('models/other', { 'trainyard.dev/replaces-source': 'true' }))
  await eventually(async () => {
    expect(await readAccepted()).toMatchObject({ status: 'True' })
    expect(await readModel()).toMatchObject({ reason: 'EngineNotReady' })
  })
})

test('a BaseModel that waits for finalizers is not served any more', async () => {
  const base = `${name}-waits`
  const spec = { ...describeBaseModel('models/none').spec, names: [`${base}/base`] }
  const metadata = { name: base, namespace, finalizers: ['trainyard.dev/test'] }
  await stack.apply({ ...describeBaseModel('models/none'), metadata, spec })
  onTestFinished(async () => {
    const patch = JSON.stringify({ metadata: { finalizers: null } })
    await stack.kubectl('patch', 'bm', base, '-n', namespace, '--type=merge', '-p', patch)
  })
  const listNames = async () => (await rest.listAll<{ id: string }>('/v1/models')).map(({ id }) => id)
  await eventually(async () => expect(await listNames()).toContain(`${base}/base`))
  await stack.kubectl('delete', 'bm', base, '-n', namespace, '--wait=false')
  await eventually(async () => expect(await listNames()).not.toContain(`${base}/base`))
})

test('a chat with a model whose BaseModel was deleted is a 503 that says so', async () => {
  const base = `${name}-chat`
  const spec = { ...describeBaseModel('models/none').spec, names: [`${base}/base`] }
  await stack.apply({ ...describeBaseModel('models/none'), metadata: { name: base, namespace }, spec })
  const model = await eventually(() =>
    rest.call<{ entity: string; name: string }>('POST', '/v1/preview/models', {
      project: 'tests',
      name: base,
      base_model: `${base}/base`,
    }),
  )
  await stack.kubectl('delete', 'bm', base, '-n', namespace)
  await eventually(async () => {
    const chat = { model: `${model.entity}/tests/${base}`, messages: [{ role: 'user', content: 'hi' }] }
    const response = await rest.send('POST', '/v1/chat/completions', chat)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('10')
    expect(await response.text()).toContain(`The base model ${base}/base is not being served.`)
  })
})
