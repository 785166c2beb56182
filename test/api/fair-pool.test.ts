import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createPool, forRequests, type Pool } from '../../db/pool.ts'
import type { FairPoolConfig } from '../../db/fair-pool.ts'
import { isDatabaseUnavailable } from '../../db/unavailable.ts'
import { createLogger } from '../../lib/log.ts'
import { runInTurn, runRequest } from '../../lib/request-scope.ts'
import { useApiServer } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const log = createLogger('test', 'silent')
const own = useApiServer()
const database = useTestDatabase()

const countSlow = `SELECT count(*) FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'active' AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()`

function openPool(max: number, more: FairPoolConfig = forRequests): Pool {
  const pool = createPool(database.databaseUrl, log, max, more)
  onTestFinished(() => pool.end())
  return pool
}

const as = <T>(entity: string, work: () => Promise<T>) => runInTurn({ key: entity, weight: 1 }, work)
const sleep = (pool: Pool, seconds = 1) => pool.query(`SELECT pg_sleep(${seconds})`)
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work))

async function read<T>(sql: string): Promise<T> {
  const { rows } = await database.pool.query<Record<string, T>>(sql)
  return Object.values(rows[0]!)[0]!
}

test.each<[string, (pool: Pool) => Promise<unknown>]>([
  ['one entity', (pool) => as('busy', () => times(4, () => sleep(pool, 3)))],
  ["the server's own work", (pool) => times(4, () => sleep(pool, 3))],
  ['requests whose key is not known', (pool) => runRequest('1', () => times(4, () => sleep(pool, 3)))],
])('%s gets at most half of the connections, and others do not wait for it', async (_, work) => {
  const pool = openPool(4)
  const working = work(pool)
  await eventually(async () => expect(await read(countSlow)).toBe(2))
  const startMs = performance.now()
  await as('calm', () => times(20, () => pool.query('SELECT 1')))
  expect(performance.now() - startMs).toBeLessThan(2_500)
  expect([await read(countSlow), pool.waits, pool.waiting]).toEqual([2, expect.any(Number), 2])
  await working
  expect(pool.waiting).toBe(0)
})

test('freed connections go to entities in turn', async () => {
  const pool = openPool(2)
  const order: string[] = []
  const ask = (entity: string) => as(entity, () => pool.query('SELECT pg_sleep(0.05)').then(() => order.push(entity)))
  await Promise.all([...Array.from({ length: 6 }, () => ask('many')), ask('few'), ask('few')])
  expect(order.slice(0, 4).filter((entity) => entity === 'few')).toHaveLength(2)
})

test('a connection that is not free in time is an unavailable database, and the next one is served', async () => {
  const pool = openPool(1, { ...forRequests, connectionTimeoutMillis: 2_000 })
  const working = as('busy', () => sleep(pool, 5))
  const error = await as('busy', () => pool.query('SELECT 1')).catch((failed: unknown) => failed)
  expect(isDatabaseUnavailable(error)).toBe(true)
  await working
  expect((await as('busy', () => pool.query('SELECT 1 AS one'))).rows).toEqual([{ one: 1 }])
})

test('connections that break or cannot be opened are replaced', async () => {
  const pool = openPool(2)
  for (let round = 0; round < 3; round++) {
    const broken = as('busy', () => sleep(pool, 9)).catch((failed: unknown) => failed)
    await eventually(async () => expect(await read(countSlow)).toBe(1))
    await database.pool.query(countSlow.replace('count(*)', 'pg_terminate_backend(pid)'))
    expect(isDatabaseUnavailable(await broken)).toBe(true)
  }
  await eventually(async () => expect((await as('busy', () => pool.query('SELECT 1'))).rowCount).toBe(1))
  const nowhere = createPool('postgres://127.0.0.1:1/none', log, 1, forRequests)
  onTestFinished(() => nowhere.end())
  for (let round = 0; round < 3; round++)
    await expect(as('busy', () => nowhere.query('SELECT 1'))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

test("a request's statements have less time than others, and locks less than that", async () => {
  const limits = `SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') AS limits`
  const readLimits = async (pool: Pool) => (await pool.query<{ limits: string }>(limits)).rows[0]!.limits
  expect(await readLimits(openPool(1))).toBe('10s 8s')
  expect(await readLimits(openPool(1, {}))).toBe('30s 0')
})

/** Runs `work` while statements on a table wait, as slow ones do. */
async function whileSlow(table: string, work: () => Promise<void>): Promise<void> {
  const client = await own.database.pool.connect()
  try {
    await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    await work()
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

test.each([
  ['/v1/preview/usage', 'training.usage'],
  ['/v1/preview/training-jobs', 'training.jobs'],
])('beside slow requests of one entity to %s, others get their runs at once', async (path, table) => {
  const [busy, calm] = [await own.join('busy'), await own.join('calm')]
  expect((await busy.send('GET', path)).status).toBe(200)
  const list = () => calm.send('GET', '/v1/preview/runs')
  expect((await list()).status).toBe(200)
  let working: Promise<Response[]> | undefined
  await whileSlow(table, async () => {
    working = times(14, () => busy.send('GET', path))
    await delay(200)
    const startMs = performance.now()
    for (let round = 0; round < 10; round++) expect((await list()).status).toBe(200)
    expect(performance.now() - startMs).toBeLessThan(3_000)
  })
  expect((await working!).map(({ status }) => status)).toEqual(Array.from({ length: 14 }, () => 200))
})

test('a request whose statement is stopped by its time limit is a 504 that asks for less', async () => {
  const rest = await own.join('busy')
  await whileSlow('training.usage', async () => {
    const asked = rest.send('GET', '/v1/preview/usage')
    // Postgres does the same when the time is over.
    await eventually(async () => {
      const stop = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
      expect((await own.database.pool.query(stop)).rowCount).toBe(1)
    })
    const answer = await asked
    expect(answer.status).toBe(504)
    expect(await answer.text()).toContain('Request less data, or narrow the query')
  })
})
