import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ChatReader } from '../../apiserver/inference/chat/chat-reader.ts'
import { IncomingBytes } from '../../apiserver/accounts/limits/incoming-bytes.ts'
import { RequestReservation } from '../../apiserver/accounts/limits/request-memory.ts'
import { KnownUse } from '../../apiserver/accounts/limits/storage-meter.ts'
import { newId } from '../../apiserver/tracing/ids.ts'
import { JsonText } from '../../lib/json/json-text.ts'
import type { CallPart } from '../../apiserver/tracing/calls/parts.ts'
import { readInputs } from '../../apiserver/tracing/completions/chat-inputs.ts'
import type { CompletionRequest } from '../../apiserver/tracing/completions/schema.ts'
import { TrackedCall } from '../../apiserver/tracing/completions/tracked-call.ts'
import { Projects } from '../../apiserver/tracing/projects.ts'
import type { Caller } from '../../apiserver/accounts/context.ts'
import { CallWriter } from '../../apiserver/tracing/calls/writer.ts'
import { weekOf } from '../../db/tracing/week.ts'
import { createTracePool, type Pool } from '../../db/pool.ts'
import { deleteCalls, renameCall } from '../../db/tracing/change-calls.ts'
import { findTraceProject, openTraceProject } from '../../db/tracing/projects.ts'
import { setRetention } from '../../db/retention/traces.ts'
import { FolderStore } from '../../artifacts/store/folder-store.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import { createLogger } from '../../lib/log.ts'
import { MemoryBudget } from '../../lib/memory-budget.ts'
import { eraseTracesAgain, eraseTraces } from '../../operator/erasure/traces.ts'
import { createTracePartitions, applyTraceRetention } from '../../operator/retention/traces.ts'
import { useTestDatabase } from '../support/database.ts'
import { expectCountedTraces } from '../support/stored-bytes.ts'
import { useServices } from '../support/services.ts'

const log = createLogger('test', 'silent')
const dayMs = 24 * 3600 * 1000
const stack = useServices()
const database = useTestDatabase()
let tracing: Pool
let artifacts: ArtifactStore
let writer: CallWriter
let entity: string

beforeAll(async () => {
  tracing = createTracePool(database.databaseUrl, log, 4)
  artifacts = new FolderStore(stack.artifacts)
  writer = new CallWriter(tracing, artifacts)
})
afterAll(() => tracing.end())
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  await tracing.query('TRUNCATE tracing.calls, tracing.projects, tracing.replaced_payloads, tracing.stored_bytes')
})
// The counted bytes must be right after every kind of removal.
afterEach(() => expectCountedTraces(tracing))

const json = (value: unknown) => new JsonText(Buffer.from(JSON.stringify(value)))
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs)

/** The id that a client would have made that many days ago. */
function idOf(days: number): string {
  const time = daysAgo(days).getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`
}

function callOf(days: number, more: { id?: string; inputs?: object; endedDaysAgo?: number } = {}): CallPart {
  const startedAt = daysAgo(days).toISOString().replace('Z', '000Z')
  const start = { traceId: newId(), opName: 'op', startedAt, attributes: json({}), inputs: json(more.inputs ?? {}) }
  const endedAt = daysAgo(more.endedDaysAgo ?? days)
    .toISOString()
    .replace('Z', '000Z')
  const end = { endedAt, output: null, summary: json({}) }
  return { id: more.id ?? idOf(days), start: { ...start, wbUserId: 'u' }, end }
}

async function makeProject(name: string, days: number | null, calls: CallPart[]) {
  const number = await openTraceProject(tracing, entity, name)
  await setRetention(tracing, number, days)
  const project = { number, entity, name, id: `${entity}/${name}` }
  await writer.write(project, calls)
  return project
}

const listIds = async () =>
  (await tracing.query<{ id: string }>('SELECT id FROM tracing.calls')).rows.map(({ id }) => id)
async function listObjects(): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of artifacts.list(`traces/${entity}`)) keys.push(key)
  return keys
}
const listWeeks = async () =>
  (
    await tracing.query<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'tracing.calls'::regclass`,
    )
  ).rows.map(({ name }) => name)

const context = (traceDays: number | null) => ({ tracing, artifacts, log, traceDays })

describe('retention', () => {
  test('each project keeps its calls, and their objects in the store, for its own time', async () => {
    const big = { x: 'x'.repeat(300_000) }
    const spans = [callOf(40, { id: '00f067aa0ba902b7' }), callOf(1, { id: '10f067aa0ba902b7' })]
    const [old, young] = [callOf(31, { inputs: big }), callOf(29, { inputs: big })]
    const defaults = callOf(80)
    await makeProject('short', 30, [old, young, ...spans, callOf(31, { endedDaysAgo: 1 })])
    await makeProject('usual', null, [defaults, callOf(95)])
    expect(await listObjects()).toHaveLength(2)
    await applyTraceRetention(context(90))
    expect((await listIds()).toSorted()).toEqual([young.id, defaults.id, spans[1]!.id].toSorted())
    expect(await listObjects()).toHaveLength(1)
  })

  test('a count that is too low does not become negative', async () => {
    await makeProject('short', 30, [callOf(31, { inputs: { x: 'x' } })])
    await tracing.query('UPDATE tracing.stored_bytes SET bytes = 1')
    await applyTraceRetention(context(90))
    expect(await listIds()).toEqual([])
    expect((await tracing.query('SELECT bytes FROM tracing.stored_bytes')).rows).toEqual([{ bytes: 0 }])
  })

  test('without a setting nothing is removed', async () => {
    await makeProject('kept', null, [callOf(5_000)])
    await applyTraceRetention(context(null))
    expect(await listIds()).toHaveLength(1)
  })

  test('a week that no project keeps is dropped, unless it has a call that is younger than its id', async () => {
    const [oldId, otherId] = [idOf(200), idOf(190)]
    for (const id of [oldId, otherId]) await tracing.query('SELECT tracing.add_week($1)', [weekOf(id)])
    const young = callOf(1, { id: otherId })
    await makeProject('short', 30, [callOf(200, { id: oldId, inputs: { x: 'x'.repeat(300_000) } }), young])
    expect(await listObjects()).toHaveLength(1)
    await applyTraceRetention(context(60))
    expect(await listWeeks()).not.toContain(`calls_w${weekOf(oldId)}`)
    expect(await listWeeks()).toContain(`calls_w${weekOf(otherId)}`)
    expect(await listIds()).toEqual([otherId])
    expect(await listObjects()).toEqual([])
  })

  test('a partition that is created late takes over its calls from the default partition', async () => {
    const [first, second] = [callOf(300), callOf(300)]
    const project = await makeProject('kept', null, [first])
    await tracing.query('SELECT tracing.add_week($1)', [weekOf(first.id)])
    await writer.write(project, [first, second])
    const { rows } = await tracing.query('SELECT DISTINCT tableoid::regclass::text AS name FROM tracing.calls')
    expect(rows).toEqual([{ name: `tracing.calls_w${weekOf(first.id)}` }])
    expect(await listIds()).toHaveLength(2)
  })

  test('the coming weeks have their partitions', async () => {
    await createTracePartitions(context(null))
    const now = weekOf(newId())
    const wanted = [now, now + 1, now + 2, now + 3, now + 4].map((week) => `calls_w${week}`)
    expect(await listWeeks()).toEqual(expect.arrayContaining(wanted))
  })

  test('deleted calls are removed after a week, and so are ends without a start', async () => {
    const deleted = [callOf(20), callOf(20)]
    // The time since the end was received counts, not the time in it.
    const ends = ['lone', idOf(40), 'late', idOf(50)].map((id) => ({ id, end: callOf(30).end! }))
    const project = await makeProject('kept', null, [...deleted, ...ends])
    for (const id of ['named', 'late name']) await renameCall(tracing, { week: -1, project: project.number, id }, 'x')
    const wait = 'UPDATE tracing.calls SET waiting_since = $2 WHERE id = ANY ($1)'
    await tracing.query(wait, [[ends[0]!.id, ends[1]!.id, 'named'], daysAgo(8)])
    await tracing.query(wait, [[ends[2]!.id, ends[3]!.id, 'late name'], daysAgo(6)])
    for (const [index, days] of [8, 6].entries()) {
      const { id } = deleted[index]!
      await deleteCalls(tracing, { weeks: [weekOf(id)], project: project.number, ids: [id] })
      await tracing.query('UPDATE tracing.calls SET deleted_at = $2 WHERE id = $1', [id, daysAgo(days)])
    }
    await applyTraceRetention(context(null))
    expect((await listIds()).toSorted()).toEqual([deleted[1]!.id, ends[2]!.id, ends[3]!.id, 'late name'].toSorted())
  })

  test('a call whose start and end have arrived does not wait', async () => {
    const call = callOf(20)
    const project = await makeProject('kept', null, [{ id: call.id, end: call.end! }])
    await writer.write(project, [{ id: call.id, start: call.start! }])
    await writer.write(project, [{ id: call.id, end: call.end! }])
    await renameCall(tracing, { week: weekOf(call.id), project: project.number, id: call.id }, 'x')
    expect((await tracing.query('SELECT waiting_since FROM tracing.calls')).rows).toEqual([{ waiting_since: null }])
  })

  test.each<[string, (id: string) => CallPart]>([
    ['a young call', (id) => callOf(1, { id })],
    ['an end that waits', (id) => ({ id, end: callOf(200).end! })],
  ])('%s that is written while its old week is being removed stays', async (_, make) => {
    const [oldId, late] = [idOf(230), idOf(230)]
    await tracing.query('SELECT tracing.add_week($1)', [weekOf(oldId)])
    const project = await makeProject('short', 30, [callOf(230, { id: oldId, inputs: { x: 'x'.repeat(300_000) } })])
    const remove = async (key: string) => {
      await writer.write(project, [make(late)])
      await artifacts.remove(key)
    }
    const slow = new Proxy(artifacts, { get: (store, name) => (name === 'remove' ? remove : Reflect.get(store, name)) })
    await applyTraceRetention({ ...context(60), artifacts: slow })
    expect(await listIds()).toEqual([late])
    expect(await listObjects()).toEqual([])
  })

  test('a replaced payload is removed from the store an hour later', async () => {
    const big = (letter: string) => ({ inputs: { x: letter.repeat(300_000) } })
    const [first, second] = [callOf(1, big('a')), callOf(1, big('b'))]
    const project = await makeProject('kept', null, [first])
    await writer.write(project, [{ ...second, id: first.id }])
    await applyTraceRetention(context(null))
    expect(await listObjects()).toHaveLength(2)
    await tracing.query("UPDATE tracing.replaced_payloads SET replaced_at = now() - interval '2 hours'")
    await applyTraceRetention(context(null))
    const [left] = await listObjects()
    const { rows } = await tracing.query("SELECT spilled -> 'inputs' ->> 'key' AS key FROM tracing.calls")
    expect(rows).toEqual([{ key: left }])
    // The first value again: a payload in use is never removed.
    await writer.write(project, [first])
    await writer.write(project, [{ ...second, id: first.id }])
    await writer.write(project, [first])
    await tracing.query("UPDATE tracing.replaced_payloads SET replaced_at = now() - interval '2 hours'")
    await applyTraceRetention(context(null))
    const { rows: again } = await tracing.query("SELECT spilled -> 'inputs' ->> 'key' AS key FROM tracing.calls")
    expect(again).toEqual((await listObjects()).map((key) => ({ key })))
    expect((await tracing.query('SELECT FROM tracing.replaced_payloads')).rowCount).toBe(0)
  })
})

describe('the partition of a week', () => {
  const lastWeek = () => weekOf(newId()) + 4
  const lastDay = () => -(lastWeek() * 7 + 1 - Date.now() / dayMs)
  beforeEach(() => tracing.query(`DROP TABLE IF EXISTS tracing.calls_w${lastWeek()}`))

  test('is created without reading the calls of other weeks while they are locked', async () => {
    await makeProject('kept', null, [callOf(500)])
    const notices: string[] = []
    const one = createTracePool(database.databaseUrl, log, 1)
    one.on('connect', (client) => client.on('notice', ({ message }) => notices.push(message ?? '')))
    await one.query('SET client_min_messages = debug1')
    await createTracePartitions({ ...context(null), tracing: one })
    await one.end()
    expect(await listWeeks()).toContain(`calls_w${lastWeek()}`)
    expect(notices.join('\n')).toMatch(/default partition "calls_of_other_weeks" is implied by existing constraints/)
  })

  test('takes over calls that arrived before it existed', async () => {
    const early = callOf(1, { id: idOf(lastDay()) })
    await makeProject('kept', null, [early])
    expect(await listWeeks()).not.toContain(`calls_w${lastWeek()}`)
    await createTracePartitions(context(null))
    expect(await listWeeks()).toContain(`calls_w${lastWeek()}`)
    expect(await listIds()).toEqual([early.id])
  })

  test('waits when its calls cannot be moved at once', async () => {
    const early = callOf(1, { id: idOf(lastDay()) })
    await makeProject('kept', null, [early])
    const client = await tracing.connect()
    await client.query('BEGIN')
    await client.query('UPDATE tracing.calls SET renamed = true')
    await createTracePartitions(context(null))
    expect(await listWeeks()).not.toContain(`calls_w${lastWeek()}`)
    await client.query('ROLLBACK')
    client.release()
    await createTracePartitions(context(null))
    expect(await listWeeks()).toContain(`calls_w${lastWeek()}`)
  })

  test('delays writers of its week while it is being created', async () => {
    const early = callOf(1, { id: idOf(lastDay()) })
    const project = await makeProject('kept', null, [])
    const [table, name] = ['ALTER TABLE tracing.calls_of_other_weeks', `not_week_${lastWeek()}`]
    await tracing.query(`${table} ADD CONSTRAINT ${name} CHECK (week <> ${lastWeek()}) NOT VALID`)
    const written = [writer.write(project, [early]), writer.write(project, [{ id: early.id, end: early.end! }])]
    await delay(700)
    await createTracePartitions(context(null))
    await Promise.all(written)
    const { rows } = await tracing.query('SELECT tableoid::regclass::text AS name FROM tracing.calls')
    expect(rows).toEqual([{ name: `tracing.calls_w${lastWeek()}` }])
  })
})

test('a project that is erased while it is being opened is created again', async () => {
  const first = await openTraceProject(tracing, entity, 'p')
  await tracing.query('UPDATE tracing.projects SET closed_at = now()')
  // Another process creates it between the lookup and the insert, and an erasure removes it again.
  let steps = 0
  const query = async (text: string, values: unknown[]) => {
    if (++steps === 2) await tracing.query('INSERT INTO tracing.projects (entity, name) VALUES ($1, $2)', [entity, 'p'])
    const result = await tracing.query(text, values)
    if (steps === 2) await tracing.query('UPDATE tracing.projects SET closed_at = now()')
    return result
  }
  const raced = new Proxy(tracing, { get: (pool, name) => (name === 'query' ? query : Reflect.get(pool, name)) })
  const number = await openTraceProject(raced, entity, 'p')
  expect(number).toBeGreaterThan(first)
  expect(await findTraceProject(tracing, entity, 'p')).toBe(number)
})

test('an erasure removes everything of a project, and nothing of others', async () => {
  const calls = () => [callOf(0, { inputs: { x: 'x'.repeat(300_000) } }), callOf(0, { id: newId().slice(0, 16) })]
  const project = await makeProject('gone', null, calls())
  await makeProject('kept', null, calls())
  await tracing.query(`INSERT INTO tracing.table_rows (project, digest, val, size) VALUES ($1, 'd', '{}', 2)`, [
    project.number,
  ])
  const wanted = { entity, project: 'gone', requestedAt: new Date() }
  expect(await eraseTraces(context(null), wanted)).toBe(false)
  // A later write under this name creates a new project.
  expect(await openTraceProject(tracing, entity, 'gone')).not.toBe(project.number)
  await tracing.query("UPDATE tracing.projects SET closed_at = closed_at - interval '1 minute'")
  expect(await eraseTraces(context(null), wanted)).toBe(true)
  const { rows } = await tracing.query('SELECT name FROM tracing.projects ORDER BY name')
  expect(rows).toEqual([{ name: '' }, { name: 'gone' }, { name: 'kept' }])
  expect(await listIds()).toHaveLength(2)
  expect(await listObjects()).toHaveLength(1)
  expect((await tracing.query('SELECT FROM tracing.table_rows')).rowCount).toBe(0)
  // A process that has cached the number for too long.
  await writer.write(project, calls())
  await eraseTracesAgain(context(null))
  expect(await listIds()).toHaveLength(4)
  await tracing.query("UPDATE tracing.projects SET erased_at = erased_at - interval '2 hours'")
  await eraseTracesAgain(context(null))
  expect(await listIds()).toHaveLength(2)
  expect(await listObjects()).toHaveLength(1)
  expect((await tracing.query('SELECT FROM tracing.projects')).rowCount).toBe(2)
})

test('a completion that outlasts an erasure leaves no call', async () => {
  const caller = { entity, keyId: 'k' } as Caller
  const projects = new Projects(tracing)
  const reader = new ChatReader(new RequestReservation(entity, new MemoryBudget(1_000).open(entity)))
  const use = new KnownUse()
  const incoming = new IncomingBytes({ entity, limit: 1_000, use, beside: 0, announced: 0 })
  const asked = { body: {} as CompletionRequest, inputs: readInputs(json({ model: 'm' }), reader), incoming }
  const project = await makeProject('p', null, [])
  const tracked = new TrackedCall({ calls: writer, projects }, { caller, project }, asked)
  await tracked.begin()
  expect(await listIds()).toEqual([tracked.id])
  await tracing.query('TRUNCATE tracing.calls, tracing.stored_bytes')
  await tracing.query('UPDATE tracing.projects SET closed_at = now()')
  const later = new TrackedCall({ calls: writer, projects: new Projects(tracing) }, { caller, project }, asked)
  await later.end({ output: null })
  expect(await listIds()).toEqual([])
})
