import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildRow } from '../../apiserver/tracing/calls/rows.ts'
import { newId } from '../../apiserver/tracing/ids.ts'
import { JsonText } from '../../lib/json/json-text.ts'
import { withTransaction, type Pool } from '../../db/pool.ts'
import { mergeCalls } from '../../db/tracing/merge-calls.ts'
import { openTraceProject } from '../../db/tracing/projects.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import { createLogger } from '../../lib/log.ts'
import { applyTraceRetention } from '../../operator/retention/traces.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { expectCountedTraces } from '../support/stored-bytes.ts'
import { createRest } from '../support/rest.ts'
import { useServices } from '../support/services.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'
import { planWrites } from '../support/trace-writes.ts'
import { post, postJson } from '../support/post.ts'

const stack = useServices()
const own = useApiServer()
let entity: string
let key: string
let client: TraceClient
let project_id: string

beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(own.database.pool, entity)
  client = createTraceClient(own.server.url, key)
  project_id = `${entity}/traces`
})

const startOf = (id: string, inputs: object) => ({
  project_id,
  id,
  trace_id: id,
  op_name: 'op',
  started_at: '2026-11-21T00:00:00Z',
  attributes: {},
  inputs,
})
const endOf = (id: string, output: unknown, more: object = {}) => ({
  project_id,
  id,
  ended_at: '2026-11-21T00:00:01Z',
  output,
  summary: {},
  ...more,
})
const fileOf = (bytes: number) => {
  const form = new FormData()
  form.append('project_id', project_id)
  form.append('file', new Blob([new Uint8Array(bytes).fill(7)]))
  return form
}
const readStored = async () => {
  const rest = createRest({ ...stack, url: own.server.url }, key)
  return (await rest.call<{ in_use: { stored_bytes: number } }>('GET', '/v1/preview/limits')).in_use.stored_bytes
}
async function limitTo(storedBytes: number): Promise<void> {
  const { pool } = own.database
  await setLimits(pool, entity, { storedBytes })
}
const fullOf = (answer: { status: number; body: unknown }) => [
  answer.status,
  (answer.body as { reason?: string }).reason?.includes('Its limit stored_bytes'),
]

/** Counts the statements of this database that wait for a lock. */
async function countWaiting(pool: Pool): Promise<number | null> {
  const { rowCount } = await pool.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  )
  return rowCount
}

describe('the counted bytes are the stored bytes', () => {
  let team: TraceClient
  beforeAll(async () => {
    team = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
  })

  test('after two writes of every kind', async () => {
    for (const { path, body, headers = {} } of planWrites('counted')) {
      for (let times = 0; times < 2; times++) {
        const writer = await addKey(own.database.pool, 'team')
        expect((await post(own.server.url + path, writer, body(), { headers })).status).toBe(200)
        await expectCountedTraces(own.database.pool)
      }
    }
  })

  test('when parts are repeated with other contents, late, or after the deletion of their call', async () => {
    const [id, other] = [newId(), newId()]
    const write = async (path: string, body: object) => {
      await team.call(path, body)
      await expectCountedTraces(own.database.pool)
    }
    const move = (call: object) => ({ ...call, project_id: 'team/parts' })
    await write('/call/end', { end: move(endOf(id, 'x'.repeat(500), { exception: 'e'.repeat(70) })) })
    await write('/call/start', { start: move(startOf(id, { a: 'x'.repeat(900) })) })
    await write('/call/end', { end: move(endOf(id, 'short', { exception: null })) })
    await write('/call/start', { start: move(startOf(id, { a: 'x'.repeat(300_000) })) })
    const whole = { ...startOf(other, { b: 1 }), ...endOf(other, 2) }
    await write('/v2/team/parts/calls/complete', { batch: [whole, { ...startOf(id, {}), ...endOf(id, 3) }] })
    await write('/calls/delete', { project_id: 'team/parts', call_ids: [id] })
    await write('/call/end', { end: move(endOf(id, 'after its end')) })
    await write('/calls/delete', { project_id: 'team/parts', call_ids: [id, other] })
  })

  test('when two processes merge the same part', async () => {
    const { pool } = own.database
    const project = { number: await openTraceProject(pool, 'team', 'merged'), entity: 'team', name: 'merged', id: '' }
    const json = (value: unknown) => new JsonText(Buffer.from(JSON.stringify(value)))
    const end = { endedAt: '2026-11-21T00:00:01.000000Z', output: json('x'.repeat(500)), summary: json({}) }
    const row = buildRow(project, { id: newId(), end: { ...end, exception: 'e' } })
    let second: Promise<void> | undefined
    await withTransaction(pool, async (first) => {
      await mergeCalls(first, [row])
      second = mergeCalls(pool, [row])
      await eventually(async () => expect(await countWaiting(pool)).toBe(1))
    })
    await second
    await expectCountedTraces(pool)
  })

  test('when there are many at once', async () => {
    const ids = Array.from({ length: 40 }, newId)
    const move = (call: object) => ({ ...call, project_id: 'team/many' })
    await Promise.all(
      ids.flatMap((id) => [
        team.call('/call/start', { start: move(startOf(id, { a: 'x'.repeat(100) })) }),
        team.call('/call/end', { end: move(endOf(id, 'y'.repeat(50))) }),
      ]),
    )
    await expectCountedTraces(own.database.pool)
  })

  test('when versions of objects are deleted and published again', async () => {
    const obj = { project_id: 'team/objects', object_id: 'thing', val: { a: 'x'.repeat(1_000) } }
    await team.call('/obj/create', { obj })
    const versions = { project_id: 'team/objects', object_id: 'thing', digests: null }
    await team.call('/obj/delete', versions)
    await expectCountedTraces(own.database.pool)
    await team.call('/obj/create', { obj })
    await expectCountedTraces(own.database.pool)
  })
})

describe('stored bytes count', () => {
  const retain = () => {
    const { pool: tracing } = own.database
    const artifacts = new FolderStore(stack.artifacts)
    return applyTraceRetention({ tracing, artifacts, log: createLogger('test', 'silent'), traceDays: null })
  }
  const age = (table: string, column: string, interval: string) =>
    own.database.pool.query(`UPDATE tracing.${table} SET ${column} = ${column} - $1::interval`, [interval])

  test('of deleted calls until they are purged', async () => {
    const id = newId()
    const call = { ...startOf(id, { a: 'x'.repeat(300_000) }), ...endOf(id, 'x'.repeat(5_000)) }
    await client.call(`/v2/${project_id}/calls/complete`, { batch: [call] })
    const stored = await readStored()
    await client.call('/calls/delete', { project_id, call_ids: [id] })
    await retain()
    expect(await readStored()).toBe(stored)
    await age('calls', 'deleted_at', '8 days')
    await retain()
    expect(await readStored()).toBe(0)
    await expectCountedTraces(own.database.pool)
  })

  test('of deleted versions of objects until their values are removed, and again if they are published again', async () => {
    const obj = { project_id, object_id: 'thing', val: { a: 'x'.repeat(1_000) } }
    const { digest } = await client.call<{ digest: string }>('/obj/create', { obj })
    const stored = await readStored()
    expect(stored).toBeGreaterThan(1_000)
    await client.call('/obj/delete', { project_id, object_id: 'thing', digests: null })
    await retain()
    expect(await readStored()).toBe(stored)
    await age('object_versions', 'deleted_at', '8 days')
    await retain()
    expect(await readStored()).toBe(0)
    expect((await client.post('/obj/read', { project_id, object_id: 'thing', digest })).status).toBe(404)
    await client.call('/obj/create', { obj })
    expect(await readStored()).toBe(stored)
    const read = await client.call<{ obj: object }>('/obj/read', { project_id, object_id: 'thing', digest })
    expect(read.obj).toMatchObject({ val: obj.val, version_index: 0 })
  })

  test('of replaced payloads until they are removed from the store', async () => {
    const id = newId()
    const end = (output: string) => client.call('/call/end', { end: endOf(id, output) })
    await client.call('/call/start', { start: startOf(id, {}) })
    await end('x'.repeat(300_000))
    await end('short')
    expect(await readStored()).toBeGreaterThan(300_000)
    await age('replaced_payloads', 'replaced_at', '2 hours')
    await retain()
    expect(await readStored()).toBeLessThan(1_000)
  })
})

describe('the limit of stored bytes', () => {
  test('applies to files of traces, and a file that is too large is rejected', async () => {
    await limitTo(1_000)
    expect(fullOf(await client.post('/file/create', fileOf(3_000_000)))).toEqual([403, true])
    expect(fullOf(await client.post('/file/create', fileOf(2_000)))).toEqual([403, true])
    expect((await client.post('/file/create', fileOf(300))).status).toBe(200)
    expect(await readStored()).toBe(300)
  })

  test('applies to the calls of spans, which are far larger than their request', async () => {
    const limit = 10_000_000
    await limitTo(limit)
    const resource = { attributes: [{ key: 'a', value: { stringValue: 'x'.repeat(40_000) } }] }
    const spans = Array.from({ length: 2_000 }, (_, index) => ({
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: (index + 1).toString(16).padStart(16, '0'),
      name: 'span',
      startTimeUnixNano: '1',
      endTimeUnixNano: '2',
    }))
    const body = { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }
    const answer = await postJson(`${own.server.url}/otel/v1/traces`, key, body, { headers: { project_id } })
    expect(fullOf(answer)).toEqual([403, true])
    expect(await readStored()).toBeLessThan(limit)
  })

  test('applies to calls, objects, tables and feedback, also right after a deletion of calls', async () => {
    const id = newId()
    const call = { ...startOf(id, { a: 'x'.repeat(5_000) }), ...endOf(id, null) }
    const complete = (batch: object[]) => client.post(`/v2/${project_id}/calls/complete`, { batch })
    expect((await complete([call])).status).toBe(200)
    expect(await readStored()).toBeGreaterThan(5_000)
    await limitTo(6_000)
    const next = newId()
    const others: [string, object][] = [
      [`/v2/${project_id}/calls/complete`, { batch: [{ ...call, id: next }] }],
      ['/call/upsert_batch', { batch: [{ mode: 'start', req: { start: startOf(next, { a: 'x'.repeat(5_000) }) } }] }],
      ['/obj/create', { obj: { project_id, object_id: 'o', val: { a: 'x'.repeat(5_000) } } }],
      ['/table/create', { table: { project_id, rows: [{ a: 'x'.repeat(5_000) }] } }],
      [
        '/feedback/create',
        {
          project_id,
          weave_ref: `weave:///${project_id}/call/${id}`,
          feedback_type: 'note',
          payload: { note: 'x'.repeat(5_000) },
        },
      ],
    ]
    for (const [path, body] of others) expect(fullOf(await client.post(path, body)), path).toEqual([403, true])
    expect((await client.post('/calls/delete', { project_id, call_ids: [id] })).status).toBe(200)
    expect(fullOf(await complete([{ ...call, id: next }]))).toEqual([403, true])
  })

  test('applies to traces in quick succession, before they are measured again', async () => {
    await limitTo(20_000)
    const statuses: number[] = []
    for (let times = 0; times < 12; times++) {
      const id = newId()
      const start = startOf(id, { a: 'x'.repeat(4_000) })
      statuses.push((await client.post('/call/start', { start })).status)
    }
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(5)
    expect(statuses.at(-1)).toBe(403)
  })

  test('applies to concurrent traces, and to bodies of unknown length', async () => {
    await limitTo(20_000)
    await readStored()
    const send = (body: string | ReadableStream) =>
      fetch(`${own.server.url}/call/start`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
        duplex: 'half',
      })
    const starts = Array.from({ length: 12 }, () => {
      const body = JSON.stringify({ start: startOf(newId(), { a: 'x'.repeat(4_000) }) })
      return [body, new Blob([body]).stream()]
    })
    const answers = await Promise.all(starts.flat().map(send))
    const taken = answers.filter(({ status }) => status === 200)
    expect(taken.length).toBeGreaterThan(0)
    expect(answers.length - taken.length).toBe(answers.filter(({ status }) => status === 403).length)
    expect(await readStored()).toBeLessThanOrEqual(20_000)
  })

  test('applies to completions that are recorded', async () => {
    await limitTo(20_000)
    const inputs = { model: 'none', messages: [{ role: 'user', content: 'x'.repeat(4_000) }] }
    const statuses: number[] = []
    for (let times = 0; times < 8; times++) {
      statuses.push((await client.post('/completions/create', { project_id, inputs })).status)
    }
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(5)
    expect(statuses.at(-1)).toBe(403)
    expect(await readStored()).toBeLessThanOrEqual(20_000)
  })
})
