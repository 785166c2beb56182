import { afterAll, beforeAll, expect, test } from 'vitest'
import { pickDefaultBaseModel } from '../../apiserver/inference/models/default-base-model.ts'
import { listBaseModels } from '../../db/base-models/base-models.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { eventually } from '../support/eventually.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { describeBaseModel } from '../support/resources.ts'

const stack = useStack()
const rest = createRest(stack)
const names = ['default-older', 'default-newer']
let pool: Pool

beforeAll(() => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 1)
})
afterAll(async () => {
  await pool.end()
  await stack.kubectl('-ntrainyard', 'delete', '--ignore-not-found', 'basemodels.trainyard.dev', ...names)
})

const applyBaseModel = (name: string, change: object) =>
  stack.apply(describeBaseModel('trainyard', name, { names: [`default/${name}`], ...change }))

async function readDefault(): Promise<string | undefined> {
  return pickDefaultBaseModel(await listBaseModels(pool))?.name
}

test('chats without a model go to the base model that is marked as default, and to the older of two', async () => {
  await applyBaseModel('default-older', {})
  await eventually(async () =>
    expect((await listBaseModels(pool)).map(({ name }) => name)).toContain('default/default-older'),
  )
  const refused = await rest.send('POST', '/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] })
  expect(refused.status).toBe(422)
  expect(await refused.json()).toMatchObject({
    detail: [{ loc: ['body', 'model'], msg: expect.stringContaining('spec.default: true') as unknown }],
  })

  // Kubernetes stores whole seconds. For two resources of the same second, the name decides.
  await applyBaseModel('default-newer', { default: true })
  await eventually(async () => expect(await readDefault()).toBe('default/default-newer'))
  const created = await stack.kubectl(
    '-ntrainyard',
    'get',
    'bm',
    ...names,
    '-ojsonpath={.items[*].metadata.creationTimestamp}',
  )
  const [older, newer] = created.split(' ')
  await applyBaseModel('default-older', { default: true })
  const winner = older === newer ? 'default-newer' : 'default-older'
  await eventually(async () => {
    const rows = (await listBaseModels(pool)).filter(({ isDefault }) => isDefault)
    expect(rows).toHaveLength(2)
    expect(await readDefault()).toBe(`default/${winner}`)
  })
  await applyBaseModel('default-newer', {})
  await applyBaseModel('default-older', {})
  await eventually(async () => expect(await readDefault()).toBeUndefined())
})
