import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { useStack } from '../support/stack.ts'

const own = useApiServer(useStack(), { LOG_LEVEL: 'warn' })
let key: string
beforeAll(async () => {
  key = await addKey(own.database.pool, 'team')
})

async function post(path: string, body: unknown, ownKey = key) {
  const response = await fetch(own.server.url + path, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${ownKey}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const isLines = response.headers.get('content-type')?.startsWith('application/jsonl')
  const value: unknown = isLines
    ? text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as unknown)
    : JSON.parse(text)
  return { status: response.status, body: value }
}

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

  test('its end comes first, and nobody sees it', async () => {
    const start = startOf()
    await post('/call/end', { end: endOf(start.id) })
    expect(await read(start.id)).toBeNull()
    expect(await query({ filter: { call_ids: [start.id] } })).toEqual([])
    await post('/call/start', { start })
    expect(await read(start.id)).toEqual({ ...whole(start), ...ended })
  })
})
