import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { migrate } from '../../db/migrate.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { openSeverableProxy, type SeverableProxy } from '../support/severable-proxy.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
let main: TestDatabase
let traces: TestDatabase
let way: SeverableProxy
let server: RunningApiServer
let key: string

beforeAll(async () => {
  main = await createEmptyDatabase()
  traces = await createEmptyDatabase()
  await migrate(main.databaseUrl, createLogger('test', 'silent'))
  const url = new URL(traces.databaseUrl)
  way = await openSeverableProxy({ host: url.hostname, port: Number(url.port) })
  url.host = `127.0.0.1:${way.port}`
  server = await startApiServer(stack, main.databaseUrl, { TRACING_DATABASE_URL: url.href })
  key = await addKey(main.pool, 'team')
})
afterAll(async () => {
  await server?.remove()
  await way?.close()
  await main?.drop()
  await traces?.drop()
})

const post = (path: string, body: object) =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const listSchemas = async ({ pool }: TestDatabase) => {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT nspname AS name FROM pg_namespace WHERE nspname IN ('auth', 'training', 'tracing') ORDER BY 1",
  )
  return rows.map(({ name }) => name)
}

test('traces can have a database of their own', async () => {
  const [id, startedAt] = [newId(), '2026-11-21T10:00:00.000000Z']
  const start = { project_id: 'team/p', id, trace_id: newId(), op_name: 'op', started_at: startedAt }
  // The process migrates that database when it has begun to answer.
  await eventually(async () => {
    const response = await post('/call/start', { start: { ...start, attributes: {}, inputs: {} } })
    expect(response.status).toBe(200)
  })
  const found = (await (await post('/call/read', { project_id: 'team/p', id })).json()) as { call: object }
  expect(found.call).toMatchObject({ id, started_at: startedAt })
  expect(await listSchemas(main)).toEqual(['auth', 'training'])
  expect(await listSchemas(traces)).toEqual(['tracing'])
})

test('and while that is away, everything else goes on', async () => {
  way.cut()
  const answer = await post('/calls/query_stats', { project_id: 'team/p' })
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { reason: 'The database is not available at the moment.' },
  ])
  const models = await fetch(`${server.url}/v1/preview/models`, { headers: { authorization: `Bearer ${key}` } })
  expect(models.status).toBe(200)
  way.mend()
  expect((await post('/calls/query_stats', { project_id: 'team/p' })).status).toBe(200)
})
