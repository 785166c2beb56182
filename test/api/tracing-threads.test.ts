import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { createTraceClient } from '../support/trace-client.ts'

const own = useApiServer({ LOG_LEVEL: 'warn' })
const p = 'team/p'
let key: string
beforeAll(async () => {
  key = await addKey(own.database.pool, 'team')
})

async function post(path: string, body: unknown, ownKey = key) {
  const response = await createTraceClient(own.server.url, ownKey).send('POST', path, body)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

type Thread = Record<string, unknown>

const readLines = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Thread)
const query = async (more: object = {}, projectId = p) =>
  readLines((await post('/threads/stream_query', { project_id: projectId, ...more })).text)
const namesOf = (threads: Thread[]) => threads.map(({ thread_id: id }) => id)

// A time this many seconds after noon.
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 31, 12, 0, 0, seconds * 1_000)).toISOString()

/** A call between two seconds, or one without an end. It is a turn by itself unless it belongs to one. */
function callOf(thread: string | null, [start, end]: [number, number?], more: { turn_id?: string | null } = {}) {
  const id = newId()
  const part = {
    project_id: p,
    id,
    trace_id: newId(),
    op_name: 'turn',
    started_at: at(start),
    attributes: {},
    inputs: {},
  }
  const call = { ...part, thread_id: thread, turn_id: id, ...more }
  return { id, call, whole: end === undefined ? undefined : { ...call, ended_at: at(end), output: 1, summary: {} } }
}

async function store(...calls: ReturnType<typeof callOf>[]) {
  const batch = calls.flatMap(({ whole }) => (whole ? [whole] : []))
  expect((await post(`/v2/${p}/calls/complete`, { batch })).status).toBe(200)
  for (const { call, whole } of calls) if (!whole) expect((await post('/call/start', { start: call })).status).toBe(200)
}

describe('threads', () => {
  const first = callOf('a', [0, 1])
  const second = callOf('a', [10, 12])
  const third = callOf('a', [20, 30])
  beforeAll(async () => {
    const nested = callOf('a', [100, 200], { turn_id: first.id })
    const running = callOf('b', [5])
    const ended = callOf('b', [1, 3.0005])
    const onlyRunning = callOf('c', [1])
    const deleted = callOf('d', [1, 2])
    await store(third, first, second, nested, running, ended, onlyRunning, deleted)
    await store(callOf(null, [1, 2]), callOf('e', [1, 2], { turn_id: null }))
    await post('/calls/delete', { project_id: p, call_ids: [deleted.id] })
  })

  test('are listed with their turns, latest first', async () => {
    const { type, text } = await post('/threads/stream_query', { project_id: p })
    expect(type).toContain('application/jsonl')
    expect(readLines(text)).toEqual([
      {
        thread_id: 'a',
        turn_count: 3,
        start_time: '2026-01-31T12:00:00.000000Z',
        last_updated: '2026-01-31T12:00:30.000000Z',
        first_turn_id: first.id,
        last_turn_id: third.id,
        p50_turn_duration_ms: 2_000,
        p99_turn_duration_ms: 9_840,
      },
      expect.objectContaining({
        thread_id: 'b',
        turn_count: 2,
        start_time: '2026-01-31T12:00:01.000000Z',
        last_updated: '2026-01-31T12:00:03.000000Z',
        p50_turn_duration_ms: 2_000,
      }),
    ])
  })

  test.each<[string, object, string[]]>([
    ['by name', { sort_by: [{ field: 'thread_id', direction: 'desc' }] }, ['b', 'a']],
    ['by turns', { sort_by: [{ field: 'turn_count', direction: 'asc' }] }, ['b', 'a']],
    ['by start', { sort_by: [{ field: 'start_time', direction: 'desc' }] }, ['b', 'a']],
    ['by their last change', { sort_by: [{ field: 'last_updated', direction: 'asc' }] }, ['b', 'a']],
    [
      'by the median, then by name',
      { sort_by: ['p50_turn_duration_ms', 'thread_id'].map((field) => ({ field, direction: 'desc' })) },
      ['b', 'a'],
    ],
    ['by the longest turns', { sort_by: [{ field: 'p99_turn_duration_ms', direction: 'asc' }] }, ['b', 'a']],
    ['in the default order', { sort_by: [] }, ['a', 'b']],
    ['in pages', { limit: 1, offset: 1 }, ['b']],
    ['in an empty page', { limit: 0 }, []],
    ['with these names', { filter: { thread_ids: ['b', 'c', 'none'] } }, ['b']],
    ['with an empty list of names', { filter: { thread_ids: [] } }, ['a', 'b']],
    ['after a time', { filter: { after_datetime: at(1) } }, ['a']],
    ['before a time', { filter: { before_datetime: at(1) } }, ['a']],
    [
      'between times',
      { filter: { after_datetime: at(0.5), before_datetime: '2026-01-31T13:00:01.000001+01:00' } },
      ['b'],
    ],
    ['with everything null', { filter: null, limit: null, offset: null, sort_by: null }, ['a', 'b']],
    [
      'with a filter of nulls',
      { filter: { thread_ids: null, after_datetime: null, before_datetime: null } },
      ['a', 'b'],
    ],
  ])('are listed %s', async (_name, asked, names) => {
    expect(namesOf(await query(asked))).toEqual(names)
  })

  test('have only the turns between the requested times', async () => {
    expect(
      await query({ filter: { after_datetime: at(0), before_datetime: at(20), thread_ids: ['a'] } }),
    ).toMatchObject([{ turn_count: 1, first_turn_id: second.id, last_turn_id: second.id, p99_turn_duration_ms: 2_000 }])
  })

  test.each<[string, object, number]>([
    ['by a field that cannot be sorted by', { sort_by: [{ field: 'first_turn_id', direction: 'asc' }] }, 400],
    ['by an unknown field', { sort_by: [{ field: 'a; DROP TABLE tracing.calls', direction: 'asc' }] }, 400],
    ['in an unknown direction', { sort_by: [{ field: 'thread_id', direction: 'up' }] }, 422],
    ['after a year before the first', { filter: { after_datetime: '0000-01-01' } }, 422],
    ['after an invalid time', { filter: { after_datetime: 'soon' } }, 422],
    ['with a number for a name', { filter: { thread_ids: [1] } }, 422],
    ['from a negative offset', { offset: -1 }, 422],
  ])('are not listed %s', async (_name, asked, status) => {
    const refused = await post('/threads/stream_query', { project_id: p, ...asked })
    expect(refused.status).toBe(status)
    expect(JSON.parse(refused.text)).toHaveProperty(status === 422 ? 'detail' : 'reason')
  })

  test('of future years are an empty list', async () => {
    expect(await query({ filter: { after_datetime: '9999-12-31T23:59:59Z' } })).toEqual([])
  })

  test('of other entities and other projects are not listed', async () => {
    const elsewhere = await addKey(own.database.pool, 'elsewhere')
    expect((await post('/threads/stream_query', { project_id: p }, elsewhere)).status).toBe(403)
    expect(await query({}, 'team/other')).toEqual([])
  })
})
