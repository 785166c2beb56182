import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { JsonText } from '../../apiserver/tracing/json/text.ts'
import type { CallPart } from '../../apiserver/tracing/calls/parts.ts'
import { CallWriter } from '../../apiserver/tracing/calls/writer.ts'
import { weekOf } from '../../apiserver/tracing/calls/week.ts'
import { createTracePool, type Pool } from '../../db/pool.ts'
import { openTraceProject } from '../../db/tracing/projects.ts'
import { setRetention } from '../../db/tracing/retention.ts'
import { createArtifactStore } from '../../lib/artifact-store/create-store.ts'
import type { ArtifactStore } from '../../lib/artifact-store/store.ts'
import { createLogger } from '../../lib/log.ts'
import { eraseTraces } from '../../operator/tracing/erase.ts'
import { addTraceWeeks, applyTraceRetention } from '../../operator/tracing/retention.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { useStack } from '../support/stack.ts'

const log = createLogger('test', 'silent')
const dayMs = 24 * 3600 * 1000
const stack = useStack()
let database: TestDatabase
let tracing: Pool
let artifacts: ArtifactStore
let writer: CallWriter
let entity: string

beforeAll(async () => {
  database = await createTestDatabase()
  tracing = createTracePool(database.databaseUrl, log, 4)
  artifacts = createArtifactStore(stack.artifacts, {})
  writer = new CallWriter(tracing, artifacts)
})
afterAll(async () => {
  await tracing.end()
  await database.drop()
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  await tracing.query('TRUNCATE tracing.calls, tracing.projects')
})

const json = (value: unknown) => new JsonText(Buffer.from(JSON.stringify(value)))
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs)

/** The id that a client would have made then. */
function idOf(days: number): string {
  const time = daysAgo(days).getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`
}

function callOf(days: number, more: { id?: string; inputs?: object } = {}): CallPart {
  const startedAt = daysAgo(days).toISOString().replace('Z', '000Z')
  const start = { traceId: newId(), opName: 'op', startedAt, attributes: json({}), inputs: json(more.inputs ?? {}) }
  const end = { endedAt: startedAt, output: null, summary: json({}) }
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
  test('each project keeps its calls as long as was said, with what lies in the store', async () => {
    const big = { x: 'x'.repeat(300_000) }
    const spans = [callOf(40, { id: '00f067aa0ba902b7' }), callOf(1, { id: '10f067aa0ba902b7' })]
    const [old, young] = [callOf(31, { inputs: big }), callOf(29, { inputs: big })]
    const usual = callOf(80)
    await makeProject('short', 30, [old, young, ...spans])
    await makeProject('usual', null, [usual, callOf(95)])
    expect(await listObjects()).toHaveLength(2)
    await applyTraceRetention(context(90))
    expect((await listIds()).toSorted()).toEqual([young.id, usual.id, spans[1]!.id].toSorted())
    expect(await listObjects()).toHaveLength(1)
  })

  test('nothing goes where nothing was said', async () => {
    await makeProject('kept', null, [callOf(5_000)])
    await applyTraceRetention(context(null))
    expect(await listIds()).toHaveLength(1)
  })

  test('a week that nobody keeps is dropped, but not with a call that is young in spite of its id', async () => {
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

  test('a week that is made late takes over what was kept for it elsewhere', async () => {
    const [first, second] = [callOf(300), callOf(300)]
    const project = await makeProject('kept', null, [first])
    await tracing.query('SELECT tracing.add_week($1)', [weekOf(first.id)])
    await writer.write(project, [first, second])
    const { rows } = await tracing.query('SELECT DISTINCT tableoid::regclass::text AS name FROM tracing.calls')
    expect(rows).toEqual([{ name: `tracing.calls_w${weekOf(first.id)}` }])
    expect(await listIds()).toHaveLength(2)
  })

  test('the coming weeks have their partitions', async () => {
    await addTraceWeeks(context(null))
    const now = weekOf(newId())
    const wanted = [now, now + 1, now + 2, now + 3, now + 4].map((week) => `calls_w${week}`)
    expect(await listWeeks()).toEqual(expect.arrayContaining(wanted))
  })

  test('calls that were deleted go after a week, and ends whose start never came', async () => {
    const deleted = [callOf(20), callOf(20)]
    const { end } = callOf(30)
    await makeProject('kept', null, [...deleted, { id: 'lone', end: end! }, { id: newId(), end: callOf(1).end! }])
    const mark = 'UPDATE tracing.calls SET deleted_at = $2 WHERE id = $1'
    await tracing.query(mark, [deleted[0]!.id, daysAgo(8)])
    await tracing.query(mark, [deleted[1]!.id, daysAgo(6)])
    await applyTraceRetention(context(null))
    const left = await listIds()
    expect(left).toHaveLength(2)
    expect(left).toContain(deleted[1]!.id)
  })
})

test('an erasure leaves nothing of a project, and all of the others', async () => {
  const calls = () => [callOf(0, { inputs: { x: 'x'.repeat(300_000) } }), callOf(0, { id: newId().slice(0, 16) })]
  const project = await makeProject('gone', null, calls())
  await makeProject('kept', null, calls())
  await tracing.query(`INSERT INTO tracing.table_rows (project, digest, val, size) VALUES ($1, 'd', '{}', 2)`, [
    project.number,
  ])
  const wanted = { entity, project: 'gone', requestedAt: new Date() }
  expect(await eraseTraces(context(null), wanted)).toBe(false)
  // Whoever writes under the name from now on begins anew.
  expect(await openTraceProject(tracing, entity, 'gone')).not.toBe(project.number)
  await tracing.query("UPDATE tracing.projects SET closed_at = closed_at - interval '1 minute'")
  expect(await eraseTraces(context(null), wanted)).toBe(true)
  const { rows } = await tracing.query('SELECT name FROM tracing.projects ORDER BY name')
  expect(rows).toEqual([{ name: 'gone' }, { name: 'kept' }])
  expect(await listIds()).toHaveLength(2)
  expect(await listObjects()).toHaveLength(1)
  expect((await tracing.query('SELECT FROM tracing.table_rows')).rowCount).toBe(0)
})
