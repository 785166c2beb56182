import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey, useApiServerProcess } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { useServices } from '../support/services.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

const stack = useServices()
// Everything that is in memory at once must fit into this heap. With a larger one, garbage would stay longer.
const own = useApiServerProcess({ LOG_LEVEL: 'fatal', NODE_OPTIONS: '--max-old-space-size=640' })
// In addition, data on its way from Postgres and to the client is in memory.
const maxGrowth = 900
const kb = 1024
const mb = 1024 * kb

let client: TraceClient
beforeAll(async () => {
  client = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
})

const callOf = (project_id: string, index: number, more: object = {}) => ({
  project_id,
  id: newId(),
  trace_id: newId(),
  op_name: 'op',
  started_at: new Date(Date.UTC(2026, 10, 21, 10) + index * 1_000).toISOString(),
  ended_at: '2026-11-21T12:00:00Z',
  attributes: {},
  inputs: { index },
  output: null,
  summary: {},
  ...more,
})
type NewCall = ReturnType<typeof callOf>

async function store(project_id: string, calls: NewCall[]) {
  await client.call(`/v2/${project_id}/calls/complete`, { batch: calls })
}

/** Copies a stored call. Each copy is a second later. Hundreds of large calls over HTTP would take a minute. */
async function copyCall(id: string, copies: number) {
  const ids = Array.from({ length: copies }, newId)
  await own.database.pool.query(
    `INSERT INTO tracing.calls SELECT made.* FROM tracing.calls AS stored,
       unnest($2::text[]) WITH ORDINALITY AS copy (id, ordinal),
       jsonb_populate_record(stored, jsonb_build_object('id', copy.id, 'started_at',
         stored.started_at + copy.ordinal * interval '1 second')) AS made
     WHERE stored.id = $1`,
    [id, ids],
  )
}

/** Copies the feedback of one call to other calls. */
async function copyFeedback(call: string, others: string[]) {
  await own.database.pool.query(
    `INSERT INTO tracing.feedback SELECT made.* FROM tracing.feedback AS said, unnest($2::text[]) AS other (id),
       jsonb_populate_record(said, jsonb_build_object('id', gen_random_uuid(), 'call_id', other.id,
         'weave_ref', replace(said.weave_ref, $1, other.id))) AS made
     WHERE said.call_id = $1`,
    [call, others],
  )
}

/** The response's lines and bytes, and the maximum growth of the server's memory. */
async function measure(body: object) {
  // Resets the kernel's peak.
  await writeFile(`/proc/${own.server.pid}/clear_refs`, '5')
  const before = await readPeak()
  const response = await client.send('POST', '/calls/stream_query', body)
  let [bytes, lines] = [0, 0]
  for await (const chunk of response.body!) {
    bytes += chunk.length
    lines += Buffer.from(chunk).toString('latin1').split('\n').length - 1
  }
  return { lines, bytes, grown: (await readPeak()) - before }
}

async function readPeak(): Promise<number> {
  const status = await readFile(`/proc/${own.server.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) * kb
}

// Each reads hundreds of MB.

describe('memory does not grow with the size of a read', () => {
  test('many calls that name one large object, expanded', async () => {
    const project_id = 'team/expanded'
    const val = { items: Array.from({ length: 60_000 }, (_, index) => ({ index, x: 'x' })) }
    const { digest } = await client.call<{ digest: string }>('/obj/create', {
      obj: { project_id, object_id: 'big', val },
    })
    const model = `weave:///${project_id}/object/big:${digest}`
    await store(
      project_id,
      Array.from({ length: 120 }, (_, index) => callOf(project_id, index, { inputs: { model, index } })),
    )
    const { lines, bytes, grown } = await measure({ project_id, expand_columns: ['inputs.model'] })
    expect(lines).toBe(120)
    expect(bytes).toBeGreaterThan(120 * mb)
    expect(grown).toBeLessThan(maxGrowth * mb)
    const [call] = (
      await client.post('/calls/stream_query', {
        project_id,
        expand_columns: ['inputs.model'],
        limit: 1,
      })
    ).body as { inputs: unknown }[]
    expect(call!.inputs).toEqual({ model: { ...val, _ref: model }, index: 0 })
  })

  test('large calls behind small ones', async () => {
    const project_id = 'team/large'
    const [text, exception] = ['x'.repeat(240 * kb), 'e'.repeat(2 * mb)]
    const large = callOf(project_id, 200, { inputs: { text }, output: text, exception })
    await store(
      project_id,
      Array.from({ length: 110 }, (_, index) => callOf(project_id, index)),
    )
    await store(project_id, [large])
    await copyCall(large.id, 299)
    const { lines, bytes, grown } = await measure({ project_id })
    expect(lines).toBe(410)
    expect(bytes).toBeGreaterThan(300 * 700 * kb)
    expect(grown).toBeLessThan(maxGrowth * mb)
    const { body } = await client.post('/calls/stream_query', { project_id, offset: 409 })
    const kept = `${'e'.repeat(256 * kb)}… (${2 * mb - 256 * kb} characters more)`
    expect(body).toMatchObject([
      { inputs: { text }, output: text, exception: kept, summary: { weave: { status: 'error' } } },
    ])
  })

  test('feedback', async () => {
    const project_id = 'team/feedback'
    const calls = Array.from({ length: 100 }, (_, index) => callOf(project_id, index))
    await store(project_id, calls)
    const payload = { text: 'x'.repeat(900 * kb) }
    const [first, ...others] = calls.map(({ id }) => id) as [string, ...string[]]
    const said = { project_id, weave_ref: `weave:///${project_id}/call/${first}`, feedback_type: 'long', payload }
    await client.call('/feedback/batch/create', { batch: [said, said, said, said] })
    await copyFeedback(first, others)
    const { lines, bytes, grown } = await measure({ project_id, include_feedback: true })
    expect(lines).toBe(100)
    expect(bytes).toBeGreaterThan(400 * 900 * kb)
    expect(grown).toBeLessThan(400 * mb)
  })
})

test('the paths of expanded columns are limited', async () => {
  const expand = (length: number) =>
    client.post('/calls/stream_query', {
      project_id: 'team/paths',
      expand_columns: Array.from({ length }, (_, index) => `inputs.${index}`),
    })
  expect((await expand(100)).status).toBe(200)
  expect((await expand(101)).status).toBe(422)
})

test('a payload that is missing in the artifact store is null, and the other calls are listed', async () => {
  const project_id = 'team/gone'
  const output = 'x'.repeat(300 * kb)
  const calls = [callOf(project_id, 0, { output }), callOf(project_id, 1)]
  await store(project_id, calls)
  const { rows } = await own.database.pool.query<{ key: string }>(
    `SELECT spilled->'output'->>'key' AS key FROM tracing.calls WHERE id = $1`,
    [calls[0]!.id],
  )
  await rm(path.join(stack.artifacts.replace(/^file:\/\//, ''), rows[0]!.key))
  const { body } = await client.post('/calls/stream_query', { project_id })
  expect(body).toMatchObject([{ id: calls[0]!.id, output: null }, { id: calls[1]!.id }])
})

describe('far pages have the same calls as the whole list', () => {
  const project_id = 'team/pages'
  const calls = Array.from({ length: 30 }, (_, index) => callOf(project_id, Math.floor(index / 4)))
  beforeAll(() => store(project_id, calls))

  test.each(['asc', 'desc'])('%s', async (direction) => {
    const ids = async (more: object) => {
      const sort_by = [{ field: 'started_at', direction }]
      const { body } = await client.post('/calls/stream_query', { project_id, sort_by, ...more })
      return (body as { id: string }[]).map(({ id }) => id)
    }
    const all = await ids({})
    expect(all.toSorted()).toEqual(calls.map(({ id }) => id).toSorted())
    for (const offset of [1, 2, 3, 4, 5, 17, 29, 30]) {
      expect(await ids({ offset, limit: 6 })).toEqual(all.slice(offset, offset + 6))
    }
  })
})

describe('concurrent reads of one key are bounded', () => {
  const project_id = 'team/at-once'
  const text = 'x'.repeat(20 * mb)
  const bodies: Record<string, object> = {}
  beforeAll(async () => {
    const { digest } = await client.call<{ digest: string }>('/obj/create', {
      obj: { project_id, object_id: 'big', val: text },
    })
    const call = callOf(project_id, 0, { inputs: { text } })
    await store(project_id, [call])
    bodies['/obj/read'] = { project_id, object_id: 'big', digest }
    bodies['/refs/read_batch'] = { refs: [`weave:///${project_id}/object/big:${digest}`] }
    bodies['/call/read'] = { project_id, id: call.id }
    bodies['/calls/stream_query'] = { project_id }
  })

  test.each(['/obj/read', '/refs/read_batch', '/call/read', '/calls/stream_query'])('by %s', async (route) => {
    const ask = () => client.send('POST', route, bodies[route])
    // The responses are not read, so that they stay in memory.
    const answers = [await ask(), await ask(), await ask(), await ask()]
    expect([answers[0]!.status, answers[3]!.status]).toEqual([200, 429])
    for (const { body } of answers) await body?.cancel()
    await eventually(async () => {
      const answer = await ask()
      expect([answer.status, (await answer.text()).length > 20 * mb]).toEqual([200, true])
    })
  })
})
