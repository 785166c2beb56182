import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelRows } from '../support/use-model-rows.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const rows = useModelRows(stack)
const { pool } = rows

const pathOf = (id: string) => `/v1/preview/models/${id}`
const stepsOf = async (id: string) => (await rest.listCheckpoints(id)).map(({ step }) => step)
const chat = async (model: string) => {
  const body = { model, messages: [{ role: 'user', content: 'x' }] }
  return (await rest.send('POST', '/v1/chat/completions', body)).status
}

async function makeModel(...steps: number[]) {
  const model = await rest.createModel()
  for (const step of steps) await rows.addCheckpoint(model.id, step, { metrics: { reward: -step } })
  return model
}

test('an alias names a step, is moved and deleted, and is served', async () => {
  const { id, address } = await makeModel(1, 2)
  const path = `${pathOf(id)}/aliases/prod`
  expect(await chat(`${address}:prod`)).toBe(404)
  expect(await rest.call('PUT', path, { step: 1 })).toMatchObject({ alias: 'prod', step: 1 })
  // There is no engine here. 503 shows that the step was found.
  expect(await chat(`${address}:prod`)).toBe(503)
  expect(await rest.call('PUT', path, { step: 2 })).toMatchObject({ step: 2 })
  expect(await rest.call('PUT', `${pathOf(id)}/aliases/base`, { step: 0 })).toMatchObject({ step: 0 })
  expect(await chat(`${address}:base`)).toBe(503)
  const list = await rest.call<{ data: object[] }>('GET', `${pathOf(id)}/aliases`)
  expect(list.data).toMatchObject([
    { alias: 'base', step: 0 },
    { alias: 'prod', step: 2 },
  ])
  expect(await rest.call('GET', pathOf(id))).toMatchObject({ aliases: { base: 0, prod: 2 } })
  expect(await rest.call('DELETE', path)).toEqual({ alias: 'prod', deleted: true })
  expect((await rest.send('DELETE', path)).status).toBe(404)
  expect(await chat(`${address}:prod`)).toBe(404)
})

test.each(['latest', 'Step12', 'v3', '1st', 'a b', 'x'.repeat(64), '%00'])('no alias is called %s', async (alias) => {
  const { id } = await makeModel(1)
  expect((await rest.send('PUT', `${pathOf(id)}/aliases/${alias}`, { step: 1 })).status).toBe(422)
})

test('an alias can only name existing steps', async () => {
  const { id } = await makeModel(1)
  for (const step of [7, -1, 2 ** 31, 1.5, null]) {
    expect((await rest.send('PUT', `${pathOf(id)}/aliases/prod`, { step })).status).toBe(422)
  }
})

test('retention keeps the newest checkpoints, the best, those with aliases, and those that a job needs', async () => {
  const { id } = await makeModel(1, 2, 3, 4, 5, 6)
  await rest.call('PUT', `${pathOf(id)}/aliases/prod`, { step: 3 })
  const jobId = await rows.addJob(id, 'Running')
  await pool.query('UPDATE training.jobs SET step = 4, config = $2 WHERE id = $1', [
    jobId,
    { kl_penalty_reference_step: 2 },
  ])
  const retention = { keep_last: 1, keep_best: { metric: 'reward', mode: 'max', count: 1 } }
  expect(await rest.call('PUT', `${pathOf(id)}/retention`, retention)).toMatchObject({ retention })
  await eventually(async () => expect(await stepsOf(id)).toEqual([1, 2, 3, 4, 6]))
  // The alias is resolved again after each new checkpoint.
  await rows.addCheckpoint(id, 7, { metrics: { reward: 9 } })
  await eventually(async () => expect(await stepsOf(id)).toEqual([2, 3, 4, 7]))
})

test('retention keeps the steps that can become the reference of a job with a lag', async () => {
  const { id } = await makeModel(1, 2, 3, 4, 5)
  const [waiting, running] = [await rows.addJob(id, 'Queued'), await rows.addJob(id, 'Running')]
  const setLag = (job: string, lag: number, reservedStep: number | null) =>
    pool.query('UPDATE training.jobs SET config = $2, reserved_step = $3 WHERE id = $1', [
      job,
      { kl_penalty_step_lag: lag },
      reservedStep,
    ])
  await setLag(waiting, 2, null)
  await setLag(running, 2, 5)
  await rest.call('PUT', `${pathOf(id)}/retention`, { keep_last: 1 })
  await eventually(async () => expect(await stepsOf(id)).toEqual([2, 3, 4, 5]))
  await pool.query(`UPDATE training.jobs SET state = 'Failed', finished_at = now() WHERE id = $1`, [running])
  await rows.addCheckpoint(id, 6)
  await eventually(async () => expect(await stepsOf(id)).toEqual([4, 5, 6]))
})

test('retention can be set when a model is created, and cleared', async () => {
  const body = { project: 'tests', name: `model-${randomUUID()}`, base_model: stack.baseModel }
  const retention = { ttl_seconds: 3600 }
  const model = await rest.call<{ id: string }>('POST', '/v1/preview/models', { ...body, retention })
  expect(model).toMatchObject({ retention })
  await rows.addCheckpoint(model.id, 1)
  await rows.addCheckpoint(model.id, 2)
  await pool.query(
    `UPDATE training.checkpoints SET created_at = now() - interval '2 hours' WHERE model_id = $1 AND step = 1`,
    [model.id],
  )
  await rest.call('PUT', `${pathOf(model.id)}/retention`, retention)
  await eventually(async () => expect(await stepsOf(model.id)).toEqual([2]))
  expect(await rest.call('PUT', `${pathOf(model.id)}/retention`, null)).toMatchObject({ retention: null })
  expect(await rest.call('GET', `${pathOf(model.id)}/retention`)).toEqual({ retention: null })
})

test('changed aliases of a resource are applied, as soon as their steps exist', async () => {
  const name = `aliases-${randomUUID().slice(0, 8)}`
  const apply = (aliases: Record<string, number>) =>
    stack.apply({
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'Model',
      metadata: { name },
      spec: { entity: 'kubectl', project: 'tests', name, baseModelRef: { name: 'tiny-chat' }, aliases },
    })
  const read = async () =>
    (
      JSON.parse(await stack.kubectl('get', 'models.trainyard.dev', name, '-o', 'json')) as {
        status: { id: string; aliases?: object; conditions: { type: string; status: string; message: string }[] }
      }
    ).status
  const applied = async () => (await read()).conditions.find(({ type }) => type === 'AliasesApplied')
  await apply({ base: 0, prod: 1, latest: 0 })
  await eventually(async () => expect(await applied()).toMatchObject({ status: 'False' }))
  expect((await applied())?.message).toContain('latest, prod')
  const { id, aliases } = await read()
  expect(aliases).toEqual({ base: 0 })
  await rows.addCheckpoint(id, 1)
  await eventually(async () => expect((await read()).aliases).toEqual({ base: 0, prod: 1 }))
  await apply({ prod: 1 })
  await eventually(async () => expect(await applied()).toMatchObject({ status: 'True' }))
  expect((await read()).aliases).toEqual({ prod: 1 })
})
