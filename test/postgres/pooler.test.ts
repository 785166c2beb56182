import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createPool, createTracePool, forRequests, withTransaction, type Connection } from '../../db/pool.ts'
import { whileHoldingKey, whileUnheld } from '../../db/store/held-keys.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { createBaseModel, runMainJob, startControlPlane } from '../support/control-plane.ts'
import { eventually } from '../support/eventually.ts'
import { makeOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts'
import { poolerConnections, startPgBouncer, type PgBouncer } from './pgbouncer.ts'
import { useStack } from '../support/stack.ts'
import { makeTrainerToken } from '../support/status-server.ts'

const stack = useStack()
const log = createLogger('test', 'silent')
let postgres: OwnPostgres
let pooler: PgBouncer
const database = () => ({ url: pooler.databaseUrl, directUrl: postgres.databaseUrl })

beforeAll(async () => {
  postgres = await makeOwnPostgres({ settings: async () => ['timezone=Asia/Tokyo'] })
  await postgres.start()
  pooler = await startPgBouncer(postgres.databaseUrl)
  const pool = createPool(database(), log, 1)
  await eventually(() => pool.query('SELECT 1'))
  await pool.end()
  await migrate(postgres.databaseUrl, log)
  await migrate(postgres.databaseUrl, log, 'tracing')
})
afterAll(async () => {
  await pooler?.stop()
  await postgres?.remove()
})

test('the main job works through a pooler in transaction mode, with a direct address for sessions', async () => {
  const namespace = `pooler-${randomUUID().slice(0, 8)}`
  const baseModel = `${namespace}/base`
  const pool = createPool(postgres.databaseUrl, log, 1)
  const key = await addKey(pool, 'acme', 'admin')
  await pool.end()
  await createBaseModel(stack, { namespace, baseModel })
  const env = { DIRECT_DATABASE_URL: postgres.databaseUrl }
  const plane = await startControlPlane(stack, { databaseUrl: pooler.databaseUrl, key, namespace, baseModel, env })
  await runMainJob(plane, await makeTrainerToken(stack, namespace))
})

test('statements work on whatever connection the pooler chooses, and traces have times in UTC', async () => {
  const pool = createTracePool(database(), log, 5)
  const named = { name: 'named', text: "SELECT '2026-01-01T00:00:00Z'::timestamptz AS at", values: [] }
  const answers = await Promise.all(Array.from({ length: 100 }, () => pool.query<{ at: string }>(named)))
  await pool.end()
  expect(new Set(answers.map(({ rows }) => rows[0]!.at))).toEqual(new Set(['2026-01-01T00:00:00.000000Z']))
})

test('statements in transactions of requests have their time limit', async () => {
  const pool = createPool(database(), log, 2, forRequests)
  const readLimit = async (connection: Connection) => {
    const { rows } = await connection.query<{ statement_timeout: string }>('SHOW statement_timeout')
    return rows[0]!.statement_timeout
  }
  expect(await withTransaction(pool, readLimit)).toBe('10s')
  expect(await readLimit(pool)).not.toBe('10s')
  await pool.end()
})

test('a key of the store stays locked while its object is removed', async () => {
  const pool = createPool(database(), log, 5)
  const order: string[] = []
  let writing: Promise<unknown> | undefined
  await whileUnheld({ pool, schema: 'training' }, 'a', async (connection) => {
    expect(await listSharedBackends()).not.toContain(await readBackend(connection))
    writing = whileHoldingKey({ pool, schema: 'training' }, 'a', {
      store: async () => void order.push('written'),
      commit: async () => {},
    })
    await eventually(async () => {
      const { rowCount } = await connection.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
      expect(rowCount).toBe(1)
    })
    order.push('removed')
    return true
  })
  await writing
  await pool.end()
  expect(order).toEqual(['removed', 'written'])
})

/** The server processes that clients of the pooler share: as many transactions as it has connections. */
async function listSharedBackends(): Promise<number[]> {
  const pool = createPool(database(), log, poolerConnections)
  const clients = await Promise.all(Array.from({ length: poolerConnections }, () => pool.connect()))
  for (const client of clients) await client.query('BEGIN')
  const backends = await Promise.all(clients.map(readBackend))
  for (const client of clients) {
    await client.query('ROLLBACK')
    client.release()
  }
  await pool.end()
  return backends
}

async function readBackend(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]!.pid
}
