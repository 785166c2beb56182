import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelRows } from '../support/use-model-rows.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const rows = useModelRows(stack)
const { pool } = rows

/** Creates a model with checkpoints of these steps. Returns their ids by step. */
async function makeModel(...steps: number[]) {
  const model = await rest.createModel()
  const ids = new Map<number, string>()
  for (const step of steps) ids.set(step, await rows.addCheckpoint(model.id, step, { metrics: { reward: step / 10 } }))
  return { ...model, ids, path: `/v1/preview/models/${model.id}`, list: `/v1/preview/models/${model.id}/checkpoints` }
}

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(stack.url + path, { method, headers: { authorization: `Bearer ${stack.apiKey}`, ...headers } })
const stepsOf = async (path: string) =>
  (await rest.call<{ data: { step: number }[] }>('GET', path)).data.map(({ step }) => step)
const chat = (model: string) =>
  rest.send('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'x' }] })
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('checkpoints are listed by steps in both directions, and a deleted one is still a valid cursor', async () => {
  const { list, ids } = await makeModel(1, 2, 3, 4)
  expect(await stepsOf(`${list}?limit=2`)).toEqual([1, 2])
  expect(await stepsOf(`${list}?order=desc&limit=1`)).toEqual([4])
  await rest.call('DELETE', list, { steps: [2] })
  expect(await stepsOf(`${list}?after=${ids.get(2)}`)).toEqual([3, 4])
  expect(await stepsOf(`${list}?after=${ids.get(2)}&order=desc`)).toEqual([1])
  expect((await get(`${list}?limit=101`)).status).toBe(422)
  expect((await get(`${list}?after=${randomUUID()}`)).status).toBe(422)
})

test('a listed checkpoint has its size, and the engines that have loaded it', async () => {
  const { list, ids } = await makeModel(1)
  const [first, second] = [randomUUID(), randomUUID()]
  await pool.query('UPDATE training.checkpoints SET bytes = 9 WHERE id = $1', [ids.get(1)])
  await pool.query(
    `INSERT INTO training.engine_adapters (pod_name, pod_uid, container_start, checkpoint_id, error)
     VALUES ($1, $1, 'now', $3, NULL), ($2, $2, 'now', $3, 'too large')`,
    [first, second, ids.get(1)],
  )
  expect(await rest.call('GET', list)).toMatchObject({ data: [{ step: 1, size: 9, loaded_on: [first] }] })
})

test.each([
  ['in the body', { steps: [1, 1, 9, 0] }, ''],
  ['in the query', undefined, '?steps=1,9,0'],
  ['repeated in the query', undefined, '?steps=1&steps=9&steps=0'],
  ['in brackets', undefined, '?steps[]=1&steps[]=9&steps[]=0'],
])('checkpoints are deleted by steps %s; step 0 never is', async (_, body, query) => {
  const { list, ids } = await makeModel(1, 2)
  expect(await rest.call('DELETE', list + query, body)).toEqual({ deleted_count: 1, not_found_steps: [9, 0] })
  expect(await stepsOf(list)).toEqual([2])
  expect(await rest.call('DELETE', list + query, body)).toEqual({ deleted_count: 0, not_found_steps: [1, 9, 0] })
  await eventually(() => expect(existsSync(rows.folderOf(ids.get(1)!))).toBe(false))
  expect(existsSync(rows.folderOf(ids.get(2)!))).toBe(true)
})

test.each([
  [undefined, '', ['body', 'steps'], 'missing'],
  [{ steps: [1e30] }, '', ['body', 'steps', '0'], 'less_than_equal'],
  [{ steps: [1.5] }, '', ['body', 'steps', '0'], 'int_from_float'],
  [{ steps: 'all' }, '', ['body', 'steps'], 'list_type'],
  [undefined, '?steps=99999999999999', ['query', 'steps', '0'], 'less_than_equal'],
  [undefined, '?steps=%00', ['query', 'steps', '0'], 'int_parsing'],
])('a deletion of %j %s is rejected', async (body, query, loc, type) => {
  const { list } = await makeModel(1)
  const response = await rest.send('DELETE', list + query, body)
  expect([response.status, await response.json()]).toMatchObject([422, { detail: [{ loc, type }] }])
  expect(await stepsOf(list)).toEqual([1])
})

test('a client that lost the answer to a deletion gets the same answer for its retry', async () => {
  const { list } = await makeModel(1)
  const retry = { 'x-stainless-retry-count': '1' }
  expect(await rest.call('DELETE', `${list}?steps=1`)).toEqual({ deleted_count: 1, not_found_steps: [] })
  expect(await (await get(`${list}?steps=1`, retry, 'DELETE')).json()).toEqual({
    deleted_count: 1,
    not_found_steps: [],
  })
})

test('a request to delete a step with an alias deletes nothing', async () => {
  const { path, list } = await makeModel(1, 2)
  await rest.call('PUT', `${path}/aliases/prod`, { step: 1 })
  const response = await rest.send('DELETE', list, { steps: [1, 2] })
  expect([response.status, response.headers.get('x-should-retry')]).toEqual([409, 'false'])
  expect(await response.json()).toEqual({ detail: expect.stringContaining('alias prod') })
  expect(await stepsOf(list)).toEqual([1, 2])
  await rest.call('DELETE', `${path}/aliases/prod`)
  expect(await rest.call('DELETE', list, { steps: [1, 2] })).toMatchObject({ deleted_count: 2 })
})

test('a deleted step is no longer served, and its number is not used again', async () => {
  const { address, list, id } = await makeModel(1, 2)
  await rest.call('DELETE', list, { steps: [2] })
  expect((await chat(`${address}:step2`)).status).toBe(404)
  // There is no engine here. 503 shows that the checkpoint was found.
  expect((await chat(`${address}:step1`)).status).toBe(503)
  const { rows: models } = await pool.query('SELECT last_step FROM training.models WHERE id = $1', [id])
  expect(models).toEqual([{ last_step: 2 }])
})

test('files stay as long as a job that was claimed before may read them', async () => {
  const { id, list, ids } = await makeModel(1)
  const jobId = await rows.addJob(id, 'Running')
  await pool.query(`UPDATE training.jobs SET claimed_at = now() - interval '1 s' WHERE id = $1`, [jobId])
  await rest.call('DELETE', list, { steps: [1] })
  // This one is deleted later, before its row is read.
  const other = await makeModel(1)
  await rest.call('DELETE', other.list, { steps: [1] })
  await eventually(() => expect(existsSync(rows.folderOf(other.ids.get(1)!))).toBe(false))
  expect(existsSync(rows.folderOf(ids.get(1)!))).toBe(true)
  await pool.query(`UPDATE training.jobs SET state = 'Failed' WHERE id = $1`, [jobId])
  await eventually(() => expect(existsSync(rows.folderOf(ids.get(1)!))).toBe(false))
})

test('a checkpoint is read with its files, by its number, its alias, or as the newest', async () => {
  const { path, list, ids } = await makeModel(1, 2)
  await rest.call('PUT', `${path}/aliases/prod`, { step: 1 })
  const one = await rest.call<{ files: { path: string }[] }>('GET', `${list}/1`)
  expect(one).toMatchObject({ id: ids.get(1), step: 1, metrics: { reward: 0.1 }, aliases: ['prod'] })
  expect(one.files.map((file) => file.path)).toEqual([
    'adapter_config.json',
    'adapter_model.safetensors',
    'manifest.json',
  ])
  expect(await rest.call('GET', `${list}/prod`)).toEqual(one)
  expect(await rest.call('GET', `${list}/latest`)).toMatchObject({ step: 2 })
  for (const step of ['0', '3', 'stage', 'v1', '99999999999', 'a%00b']) {
    expect((await get(`${list}/${step}`)).status).toBe(404)
  }
})

test('each file can be downloaded in whole or in part, and a download can be resumed', async () => {
  const { list, ids } = await makeModel(1)
  const content = `weights of ${ids.get(1)}`
  const url = `${list}/1/files/adapter_model.safetensors`
  const whole = await get(url)
  const etag = whole.headers.get('etag')!
  expect([whole.status, await whole.text(), etag]).toEqual([200, content, `"${digestOf(Buffer.from(content))}"`])
  const part = await get(url, { range: 'bytes=8-', 'if-range': etag })
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
    206,
    content.slice(8),
    `bytes 8-${content.length - 1}/${content.length}`,
  ])
  expect((await get(url, { range: 'bytes=8-', 'if-range': '"other"' })).status).toBe(200)
  expect((await get(url, { range: 'bytes=999-' })).status).toBe(416)
  expect((await get(url, { 'if-none-match': etag })).status).toBe(304)
  const head = await get(url, {}, 'HEAD')
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, `${content.length}`, ''])
  const files = await rest.call<{ data: { path: string; size: number; digest: string }[] }>('GET', `${list}/1/files`)
  for (const file of files.data) {
    const bytes = Buffer.from(await (await get(`${list}/1/files/${file.path}`)).arrayBuffer())
    expect([bytes.length, digestOf(bytes)]).toEqual([file.size, file.digest])
  }
  for (const name of ['optimizer.safetensors', '..%2f..%2fx', 'a/b', '%00']) {
    expect((await get(`${list}/1/files/${name}`)).status).toBe(404)
  }
})

test('a checkpoint can be downloaded as a tar, the same every time', async () => {
  const { list, name } = await makeModel(1)
  const response = await get(`${list}/1/archive`)
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${name}-step1.tar"`)
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.headers.get('content-length')).toBe(String(bytes.length))
  const found: string[] = []
  for await (const entry of Readable.from([bytes]).pipe(extract())) {
    found.push(entry.header.name)
    await buffer(entry)
  }
  expect(found).toEqual(
    ['adapter_config.json', 'adapter_model.safetensors', 'manifest.json'].map((file) => `${name}-step1/${file}`),
  )
  expect(digestOf(Buffer.from(await (await get(`${list}/1/archive`)).arrayBuffer()))).toBe(digestOf(bytes))
  expect((await get(`${list}/1/archive`, {}, 'HEAD')).headers.get('content-length')).toBe(String(bytes.length))
})

test('a fork starts from a copy of the checkpoint, and outlives it', async () => {
  const { path, list, ids, id } = await makeModel(1, 2, 3)
  const fork = await rest.call<{ id: string; name: string }>('POST', `${path}/fork`, { project: 'forks', step: 2 })
  const origin = { model_id: id, step: 2, checkpoint_id: ids.get(2) }
  expect(fork).toMatchObject({ project: 'forks', latest_step: 2, forked_from: origin })
  const [copy] = await rest.listCheckpoints(fork.id)
  expect(copy).toEqual({
    id: expect.any(String),
    step: 2,
    metrics: { reward: 0.2 },
    created_at: expect.any(String),
    size: null,
    loaded_on: [],
  })
  expect(copy!.id).not.toBe(ids.get(2))
  await rest.call('DELETE', list, { steps: [2] })
  await eventually(() => expect(existsSync(rows.folderOf(ids.get(2)!))).toBe(false))
  const files = `/v1/preview/models/${fork.id}/checkpoints/2/files/adapter_model.safetensors`
  expect(await (await get(files)).text()).toBe(`weights of ${ids.get(2)}`)
  const { rows: models } = await pool.query('SELECT last_step FROM training.models WHERE id = $1', [fork.id])
  expect(models).toEqual([{ last_step: 2 }])
  await eventually(async () =>
    expect(await stack.kubectl('get', 'models.trainyard.dev', '-l', `trainyard.dev/id=${fork.id}`)).toMatch(fork.name),
  )
})

test('a fork starts from the newest step or the named one, also 0; a taken name and a missing step are rejected', async () => {
  const { path, name } = await makeModel(1, 2)
  expect(await rest.call('POST', `${path}/fork`)).toMatchObject({ project: 'tests', latest_step: 2 })
  const untrained = await rest.call<{ id: string }>('POST', `${path}/fork`, { step: 0 })
  expect(untrained).toMatchObject({ latest_step: 0, forked_from: { step: 0, checkpoint_id: null } })
  expect(await rest.listCheckpoints(untrained.id)).toEqual([])
  expect((await rest.send('POST', `${path}/fork`, { name })).status).toBe(409)
  expect((await rest.send('POST', `${path}/fork`, { step: 7 })).status).toBe(422)
  expect((await rest.send('POST', `${path}/fork`, { step: 2 ** 31 })).status).toBe(422)
  expect((await rest.send('POST', `/v1/preview/models/${randomUUID()}/fork`, {})).status).toBe(404)
})
