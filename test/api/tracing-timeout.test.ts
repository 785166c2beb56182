import { beforeAll, expect, test } from 'vitest'
import { createPool, type Connection } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

const own = useApiServer({ LOG_LEVEL: 'error' })
const project_id = 'team/slow'
const started_at = '2026-11-21T10:00:00Z'
const batch = [
  {
    project_id,
    id: 'a',
    trace_id: 't',
    op_name: 'op',
    started_at,
    ended_at: started_at,
    attributes: {},
    inputs: {},
    summary: {},
  },
]
const reason = 'The database took too long to answer this request. Request less data, or narrow the query.'

let client: TraceClient
beforeAll(async () => {
  client = createTraceClient(own.server.url, await addKey(own.database.pool, 'team'))
  await client.call(`/v2/${project_id}/calls/complete`, { batch })
  await client.call('/obj/create', { obj: { project_id, object_id: 'thing', val: 1 } })
})

/** Runs `work` while a table is locked for all others. */
async function withLocked(table: string, work: (connection: Connection) => Promise<void>): Promise<void> {
  const pool = createPool(own.database.databaseUrl, createLogger('test', 'silent'), 1)
  const connection = await pool.connect()
  try {
    await connection.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    await work(connection)
  } finally {
    await connection.query('ROLLBACK')
    connection.release()
    await pool.end()
  }
}

/** Cancels statements that wait for the lock. Postgres would do it half a minute later, with the same code. */
async function stopWaiting(connection: Connection): Promise<void> {
  await eventually(async () => {
    const stop = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    if ((await connection.query(stop)).rowCount === 0) throw new Error('nothing waits')
  })
}

test.each([
  ['tracing.calls', '/calls/stream_query', { project_id }],
  ['tracing.calls', '/calls/query_stats', { project_id }],
  ['tracing.calls', `/v2/${project_id}/calls/complete`, { batch }],
  ['tracing.objects', '/obj/read', { project_id, object_id: 'thing', digest: 'latest' }],
  ['tracing.projects', '/graphql', { query: '{ project(name: "unknown") { name } }' }],
])('a statement on %s of %s that is stopped is a 504', async (table, path, body) => {
  await withLocked(table, async (connection) => {
    const asked = client.post(path, body)
    await stopWaiting(connection)
    const error = path === '/graphql' ? { errors: [{ message: reason }] } : { reason }
    expect(await asked).toEqual({ status: 504, body: error })
  })
  expect((await client.post(path, body)).status).toBe(200)
})
