import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { createTraceClient } from '../support/trace-client.ts'

const own = useApiServer({ LOG_LEVEL: 'error' })
let key: string
beforeAll(async () => {
  key = await addKey(own.database.pool, 'team')
})

const post = (path: string, body: unknown, ownKey = key) => createTraceClient(own.server.url, ownKey).post(path, body)

const startOf = (more: object = {}) => ({
  project_id: 'team/p',
  id: newId(),
  trace_id: newId(),
  op_name: 'op',
  started_at: '2026-11-21T10:00:00.123456Z',
  attributes: {},
  inputs: { x: 1 },
  ...more,
})
const endOf = (id: string, more: object = {}) => ({
  project_id: 'team/p',
  id,
  ended_at: '2026-11-21T10:00:01Z',
  output: 'done',
  summary: {},
  ...more,
})

const query = async (more: object = {}) => {
  const { body } = await post('/calls/stream_query', { project_id: 'team/p', ...more })
  return body as Record<string, unknown>[]
}
const read = async (id: string) =>
  ((await post('/call/read', { project_id: 'team/p', id })).body as { call: Record<string, unknown> | null }).call

const whole = (start: ReturnType<typeof startOf>) => ({
  id: start.id,
  trace_id: start.trace_id,
  project_id: 'team/p',
  op_name: 'op',
  started_at: '2026-11-21T10:00:00.123456Z',
  attributes: {},
  inputs: { x: 1 },
  parent_id: null,
  thread_id: null,
  turn_id: null,
  display_name: null,
  exception: null,
  wb_user_id: expect.any(String) as string,
  wb_run_id: null,
  wb_run_step: null,
  wb_run_step_end: null,
})
const running = { ended_at: null, output: null, summary: { weave: { status: 'running', trace_name: 'op' } } }
const ended = {
  ended_at: '2026-11-21T10:00:01.000000Z',
  output: 'done',
  summary: { weave: { status: 'success', latency_ms: 876, trace_name: 'op' } },
}

describe('a call is the union of its start and its end', () => {
  test('its start comes first', async () => {
    const start = startOf()
    const started = await post('/call/start', { start })
    expect(started).toEqual({ status: 200, body: { id: start.id, trace_id: start.trace_id } })
    expect(await read(start.id)).toEqual({ ...whole(start), ...running })
    expect(await post('/traces/call/end', { end: endOf(start.id) })).toEqual({ status: 200, body: {} })
    expect(await read(start.id)).toEqual({ ...whole(start), ...ended })
  })

  test('its end comes first, and is not visible', async () => {
    const start = startOf()
    await post('/call/end', { end: endOf(start.id) })
    expect(await read(start.id)).toBeNull()
    expect(await query({ filter: { call_ids: [start.id] } })).toEqual([])
    await post('/call/start', { start })
    expect(await read(start.id)).toEqual({ ...whole(start), ...ended })
  })
})

describe('repeated requests', () => {
  test('changes nothing when it is the same', async () => {
    const start = startOf()
    const batch = [{ ...start, ...endOf(start.id) }]
    for (let time = 0; time < 2; time++) {
      expect(await post('/v2/team/p/calls/complete', { batch })).toEqual({ status: 200, body: {} })
    }
    expect(await query({ filter: { call_ids: [start.id] } })).toEqual([{ ...whole(start), ...ended }])
  })

  test('a newer one counts: of a start, of an end, of both in one batch', async () => {
    const start = startOf({ inputs: { x: 0 } })
    const newer = { ...start, inputs: { x: 1 } }
    await post('/call/start', { start })
    await post('/call/end', { end: endOf(start.id, { output: 'old', exception: 'old' }) })
    await post('/call/upsert_batch', {
      batch: [
        { mode: 'end', req: { end: endOf(start.id, { output: 'older' }) } },
        { mode: 'start', req: { start: newer } },
        { mode: 'end', req: { end: endOf(start.id) } },
      ],
    })
    expect(await read(start.id)).toEqual({ ...whole(start), ...ended })
  })

  test('does not affect the new calls in its batch', async () => {
    const [known, fresh] = [startOf(), startOf()]
    await post('/call/start', { start: known })
    const batch = [known, fresh].map((start) => ({ ...start, ...endOf(start.id) }))
    expect((await post('/v2/team/p/calls/complete', { batch })).status).toBe(200)
    expect(await query({ filter: { call_ids: [known.id, fresh.id] } })).toHaveLength(2)
  })

  test('does not restore deleted calls', async () => {
    const start = startOf()
    await post('/call/start', { start })
    await post('/calls/delete', { project_id: 'team/p', call_ids: [start.id] })
    await post('/call/start', { start })
    await post('/call/end', { end: endOf(start.id) })
    expect(await read(start.id)).toBeNull()
  })
})

describe('for any id and time of a call', () => {
  // The id alone determines the partition: this week's, another week's, or the one for ids without a time.
  test.each([
    ['an id with the current time', newId()],
    ['an id with a time long ago', '00000000-0000-7000-8000-00000000000a'],
    ['an id with a time far in the future', 'ffffffff-ffff-7fff-bfff-fffffffffffa'],
    ['the id of a span', '00f067aa0ba902b7'],
    ['anything', 'übergrößen/?%'],
  ])('%s has one row, even when its end comes first and all comes twice', async (_, id) => {
    for (const startedAt of ['1990-01-01T00:00:00Z', '2090-01-01T00:00:00Z', '2026-11-21T10:00:00.123456Z']) {
      const start = startOf({ id, started_at: startedAt })
      await post('/call/end', { end: endOf(id) })
      await post('/call/upsert_batch', { batch: [{ mode: 'start', req: { start } }] })
    }
    const { rows } = await own.database.pool.query('SELECT count(*) AS count FROM tracing.calls WHERE id = $1', [id])
    expect(rows).toEqual([{ count: 1 }])
    expect(await read(id)).toMatchObject({ ...ended, id, started_at: '2026-11-21T10:00:00.123456Z' })
  })
})

describe('renaming', () => {
  test('the newest name counts, also after a repeated start; an empty name removes it', async () => {
    const start = startOf({ display_name: 'first' })
    await post('/call/start', { start })
    expect(await read(start.id)).toMatchObject({ display_name: 'first', summary: { weave: { display_name: 'first' } } })
    const rename = (name: unknown) =>
      post('/call/update', { project_id: 'team/p', call_id: start.id, display_name: name })
    expect(await rename('second')).toEqual({ status: 200, body: {} })
    await post('/call/start', { start })
    expect(await read(start.id)).toMatchObject({ display_name: 'second' })
    await rename('')
    expect(await read(start.id)).toMatchObject({ display_name: null, summary: { weave: { trace_name: 'op' } } })
    expect((await rename(null)).status).toBe(400)
  })

  test('a name that is too long is cut off', async () => {
    const start = startOf({ display_name: 'x'.repeat(2_000) })
    expect((await post('/call/start', { start })).status).toBe(200)
    expect(await read(start.id)).toMatchObject({ display_name: 'x'.repeat(1_024) })
  })

  test('a name that arrives before the start is kept', async () => {
    const start = startOf({ display_name: 'first' })
    await post('/call/update', { project_id: 'team/p', call_id: start.id, display_name: 'early' })
    expect(await read(start.id)).toBeNull()
    await post('/call/start', { start })
    expect(await read(start.id)).toMatchObject({ display_name: 'early' })
  })
})

describe('deleting', () => {
  test('includes descendants, and counts each call once', async () => {
    const root = startOf({ project_id: 'team/deleting' })
    const below = (parent: { id: string }) =>
      startOf({ project_id: 'team/deleting', trace_id: root.trace_id, parent_id: parent.id })
    const child = below(root)
    const [grandchild, sibling] = [below(child), below(root)]
    const batch = [root, child, grandchild, sibling].map((start) => ({ mode: 'start', req: { start } }))
    await post('/call/upsert_batch', { batch })
    const remove = (ids: string[]) => post('/calls/delete', { project_id: 'team/deleting', call_ids: ids })
    expect(await remove([child.id, grandchild.id, 'unknown'])).toEqual({ status: 200, body: { num_deleted: 2 } })
    expect(await remove([child.id])).toEqual({ status: 200, body: { num_deleted: 0 } })
    const left = await query({ project_id: 'team/deleting' })
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([root.id, sibling.id]))
    expect(await remove(Array.from({ length: 1_001 }, (_, index) => String(index)))).toEqual({
      status: 413,
      body: { reason: 'Request too large' },
    })
  })
})

test('one call is read by its id, and members of queries are ignored', async () => {
  const start = startOf()
  await post('/v2/team/p/calls/complete', { batch: [{ ...start, ...endOf(start.id) }] })
  const odd = { offset: -1, sort_by: [{ field: 'nothing', direction: 'asc' }], columns: 1, query: { $expr: {} } }
  const answer = await post('/call/read', { project_id: 'team/p', id: start.id, ...odd })
  expect(answer).toEqual({ status: 200, body: { call: { ...whole(start), ...ended } } })
})

describe('hostile payloads', () => {
  const complete = async (inputs: string) => {
    const [hostile, harmless] = [startOf(), startOf()]
    const first = JSON.stringify({ ...hostile, ...endOf(hostile.id), inputs: 'PUT' }).replace('"PUT"', () => inputs)
    const second = JSON.stringify({ ...harmless, ...endOf(harmless.id) })
    expect(await post('/v2/team/p/calls/complete', `{"batch":[${first},${second}]}`)).toEqual({ status: 200, body: {} })
    expect(await read(harmless.id)).toEqual({ ...whole(harmless), ...ended })
    const text = await createTraceClient(own.server.url, key).text('/call/read', {
      project_id: 'team/p',
      id: hostile.id,
    })
    return /"inputs":(.*),"output"/s.exec(text)?.[1]
  }

  test('are kept as they are, or replaced by the documented rule', async () => {
    const kept = '"n":[1e400,123456789012345678901234567890,1.0], "b" : "NaN","b":2,"__proto__":{"a":1}}'
    const hostile = String.raw`{"a":"x\u0000y\ud800","\u0000":[NaN,-Infinity],${kept}`
    expect(await complete(hostile)).toBe(String.raw`{"a":"x\ufffdy\ufffd","\ufffd":[null,null],${kept}`)
  })

  test('values nested too deeply are null', async () => {
    expect(await complete(`{"a":${'['.repeat(2_000)}${']'.repeat(2_000)}}`)).toMatch(/^\{"a":\[+null\]+\}$/)
  })

  test('the error for a body that is not JSON has its position', async () => {
    const msg =
      'JSON decode error: not valid JSON at byte 19, after "{\\"start\\": {\\"id\\": 1,": expected a name in double quotes'
    expect(await post('/call/start', '{"start": {"id": 1,}}')).toEqual({
      status: 422,
      body: { detail: [{ loc: ['body'], msg, type: 'json_invalid' }] },
    })
  })

  test.each<[string, object]>([
    ['no time', { started_at: 'soon' }],
    ['inputs that are not an object', { inputs: [] }],
  ])('the error for an invalid call has its location: %s', async (_, more) => {
    const answer = await post('/call/start', { start: startOf(more) })
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'start', Object.keys(more)[0]] }] } })
  })
})

describe('large payloads', () => {
  test('are in the artifact store and are read unchanged', async () => {
    const big = 'x'.repeat(300_000)
    const start = startOf({ inputs: { big } })
    await post('/v2/team/p/calls/complete', { batch: [{ ...start, ...endOf(start.id, { output: [big] }) }] })
    const { rows } = await own.database.pool.query('SELECT inputs, output, spilled FROM tracing.calls WHERE id = $1', [
      start.id,
    ])
    const stored = (size: number) => ({ key: expect.stringMatching(/^traces\/team\//) as string, size })
    expect(rows).toEqual([
      { inputs: null, output: null, spilled: { inputs: stored(300_010), output: stored(300_004) } },
    ])
    expect(await read(start.id)).toMatchObject({ inputs: { big }, output: [big] })
    await post('/call/end', { end: endOf(start.id) })
    expect(await read(start.id)).toMatchObject({ inputs: { big }, output: 'done' })
  })
})

describe('finding', () => {
  const project = 'team/finding'
  const make = (index: number) =>
    startOf({
      project_id: project,
      op_name: `op${index % 3}`,
      started_at: `2026-11-21T10:${10 + index}:00Z`,
      inputs: { index },
    })
  const calls = Array.from({ length: 25 }, (_, index) => make(index))
  beforeAll(async () => {
    const batch = calls.map((start) => ({ ...start, ...endOf(start.id, { project_id: project }) }))
    await post('/v2/team/finding/calls/complete', { batch: batch.toReversed() })
  })
  const ids = async (more: object) => (await query({ project_id: project, ...more })).map(({ id }) => id)
  const expected = calls.map(({ id }) => id)

  test.each<[string, object, string[]]>([
    ['all, in order of time', {}, expected],
    ['a page', { limit: 10, offset: 5 }, expected.slice(5, 15)],
    ['an offset alone', { offset: 20 }, expected.slice(20)],
    ['an offset beyond the last', { offset: 25 }, []],
    [
      'a later page of one op',
      { filter: { op_names: ['op1'] }, limit: 3, offset: 4 },
      expected.filter((_, index) => index % 3 === 1).slice(4, 7),
    ],
    [
      'backwards',
      { sort_by: [{ field: 'started_at', direction: 'desc' }], limit: 3 },
      expected.toReversed().slice(0, 3),
    ],
    ['of one op', { filter: { op_names: ['op1'] } }, expected.filter((_, index) => index % 3 === 1)],
    [
      'by a payload',
      { query: { $expr: { $gt: [{ $getField: 'inputs.index' }, { $literal: 22 }] } } },
      expected.slice(23),
    ],
    ['none', { limit: 0 }, []],
  ])('%s', async (_, more, found) => {
    expect(await ids(more)).toEqual(found)
  })

  test('columns that were not requested are left out, except for required ones', async () => {
    const [call] = await query({ project_id: project, columns: ['inputs.index', 'nonsense'], limit: 1 })
    const { id, trace_id: traceId, op_name: opName } = calls[0]!
    expect(call).toEqual({
      id,
      trace_id: traceId,
      op_name: opName,
      project_id: project,
      started_at: '2026-11-21T10:10:00.000000Z',
      attributes: {},
      inputs: { index: 0 },
    })
  })

  test('payloads have the names of columns of production too', async () => {
    const [call] = await query({ project_id: project, columns: ['inputs_dump', 'output_dump.x'], limit: 1 })
    expect(call).toMatchObject({ inputs: { index: 0 }, output: expect.anything() as unknown })
    const condition = { $expr: { $eq: [{ $getField: 'inputs_dump.index' }, { $literal: 3 }] } }
    const sort_by = [{ field: 'inputs_dump.index', direction: 'desc' }]
    const found = await query({ project_id: project, query: condition, sort_by })
    expect(found).toMatchObject([{ inputs: { index: 3 } }])
    const sorted = await query({ project_id: project, columns: ['inputs'], sort_by, limit: 2 })
    expect(sorted.map(({ inputs }) => (inputs as { index: number }).index)).toEqual([24, 23])
  })

  test('counts', async () => {
    const stats = async (more: object) => (await post('/calls/query_stats', { project_id: project, ...more })).body
    expect(await stats({})).toEqual({ count: 25, total_storage_size_bytes: null })
    expect(await stats({ filter: { op_names: ['op1'] }, limit: 3 })).toEqual({
      count: 3,
      total_storage_size_bytes: null,
    })
    expect(await stats({ project_id: 'team/none' })).toEqual({ count: 0, total_storage_size_bytes: null })
    expect(await stats({ include_total_storage_size: true })).toMatchObject({ total_storage_size_bytes: 540 })
  })

  test('the old list operation returns the same', async () => {
    const { body } = await post('/calls/query', { project_id: project })
    expect((body as { calls: { id: string }[] }).calls.map(({ id }) => id)).toEqual(expected)
    expect(await post('/calls/query', { project_id: 'team/none' })).toEqual({ status: 200, body: { calls: [] } })
  })
})

describe('projects of other entities', () => {
  test('are rejected in the same way whether they exist or not, and none of their data is revealed', async () => {
    const foreign = await addKey(own.database.pool, 'others')
    const start = startOf({ project_id: 'others/theirs' })
    expect((await post('/call/start', { start }, foreign)).status).toBe(200)
    const answers = []
    for (const project of ['others/theirs', 'others/nothing', 'nobody/nothing']) {
      answers.push(await post('/calls/stream_query', { project_id: project }))
      answers.push(await post('/call/read', { project_id: project, id: start.id }))
      answers.push(await post('/call/start', { start: { ...start, project_id: project } }))
      answers.push(await post(`/v2/${project}/calls/complete`, { batch: [] }))
    }
    const reason = 'This key does not belong to the entity of the project.'
    expect(answers).toEqual(answers.map(() => ({ status: 403, body: { reason } })))
    expect(await read(start.id)).toBeNull()
  })

  test('a project id of another form is a 400', async () => {
    for (const id of ['team', 'team/a/b', '/a', 'team/', '']) {
      expect((await post('/calls/stream_query', { project_id: id })).status).toBe(400)
    }
  })

  test('a read-only key cannot write', async () => {
    const reader = await addKey(own.database.pool, 'team', 'read')
    expect((await post('/call/start', { start: startOf() }, reader)).status).toBe(403)
    expect((await post('/calls/stream_query', { project_id: 'team/p', limit: 1 }, reader)).status).toBe(200)
    expect((await post('/calls/stream_query', { project_id: 'team/p' }, 'nonsense')).status).toBe(401)
  })
})

test('keys of this service in the inputs of a call are masked, whichever route and format they come by', async () => {
  const inputs = { model: { inference_api_key: key, name: 'mine' } }
  const masked = { model: { inference_api_key: '*'.repeat(key.length), name: 'mine' } }
  const [started, batched, completed] = [startOf({ inputs }), startOf({ inputs }), startOf({ inputs })]
  await post('/call/start', { start: started })
  await post('/call/end', { end: endOf(started.id, { output: key }) })
  await post('/call/upsert_batch', { batch: [{ mode: 'start', req: { start: batched } }] })
  const { project_id: _, ...call } = { ...completed, ...endOf(completed.id) }
  await post('/v2/team/p/calls/complete', { batch: [{ ...call, project_id: 'team/p' }] })
  const span = {
    traceId: newId().replaceAll('-', ''),
    spanId: '00f067aa0ba902b7',
    name: 'op',
    startTimeUnixNano: '1795000000000000000',
    endTimeUnixNano: '1795000001000000000',
    attributes: [{ key: 'api_key', value: { stringValue: key } }],
  }
  const resource = {
    attributes: ['entity', 'project'].map((name, at) => ({
      key: `wandb.${name}`,
      value: { stringValue: ['team', 'p'][at] },
    })),
  }
  const exported = await post('/otel/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] })
  expect(exported.status).toBe(200)
  for (const { id } of [started, batched, completed]) expect(await read(id)).toMatchObject({ inputs: masked })
  expect(await read(started.id)).toMatchObject({ output: '*'.repeat(key.length) })
  expect(JSON.stringify(await query())).not.toContain(key)
})
