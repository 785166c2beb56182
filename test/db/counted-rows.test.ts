import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPool, createTracePool, withTransaction, type Pool } from '../../db/pool.ts'
import { readMeasured } from '../../db/runs/read-measured.ts'
import { runForAnswer } from '../../lib/request-scope.ts'
import { useTestDatabase } from '../support/database.ts'
import { log } from '../support/template-database.ts'

const database = useTestDatabase()
let pools: Record<string, Pool>

// One connection each, so that requests wait for it.
beforeAll(async () => {
  const url = database.databaseUrl
  pools = {
    direct: createPool(url, log, 1),
    pooled: createPool({ url, directUrl: url }, log, 1),
    traces: createTracePool(url, log, 1),
  }
})

afterAll(() => Promise.all(Object.values(pools).map((pool) => pool.end())))

/** The bytes that work reads of at most `most`. */
async function count(work: () => Promise<unknown>, most = Infinity): Promise<number> {
  let bytes = 0
  const read = (more: number) => {
    if (bytes + more > most) throw new Error('too many')
    bytes += more
  }
  await runForAnswer({ read, write: () => {} }, work)
  return bytes
}

const texts = 'SELECT repeat($1, 1000) AS text FROM generate_series(1, 10)'

test.each(['direct', 'pooled', 'traces'])('rows count for the answer that they are read for: %s', async (name) => {
  const pool = pools[name]!
  const counted = await Promise.all([
    ...['a', 'é', '語'].map((text) => count(() => pool.query(texts, [text]))),
    count(() => withTransaction(pool, (connection) => connection.query({ text: texts, values: ['a'] }))),
    pool.query(texts, ['a']),
  ])
  expect(counted.slice(0, 4)).toEqual([10_000, 20_000, 30_000, 10_000])
})

test.each(['direct', 'pooled', 'traces'])('too many rows fail their query, and not the next one: %s', async (name) => {
  const pool = pools[name]!
  await expect(count(() => pool.query(texts, ['a']), 5_000)).rejects.toThrow('too many')
  for (let times = 0; times < 10; times++) expect(await count(() => pool.query(texts, ['a']))).toBe(10_000)
})

test.each(['json', 'jsonb'])('lists and objects in %s count too', async (type) => {
  const lists = JSON.stringify(Array.from({ length: 1_000 }, () => []))
  const bytes = await count(() => pools['direct']!.query(`SELECT $1::text::${type} AS value`, [lists]))
  expect(bytes).toBeGreaterThan(100 * 1_000)
  expect(bytes).toBeLessThan(110 * 1_000)
})

test('values keep their types', async () => {
  const sql = `SELECT 1::bigint AS number, '{"a": 1}'::json AS value, now() AS time, null AS nothing`
  const rows = async (pool: Pool) => (await pool.query<Record<string, unknown>>(sql)).rows[0]!
  for (const pool of Object.values(pools)) {
    const plain = await rows(pool)
    await count(async () => {
      const counted = await rows(pool)
      expect(counted).toEqual({ ...plain, time: counted['time'] })
      expect(typeof counted['time']).toBe(typeof plain['time'])
    })
  }
})

test('measured rows count once, before they are read', async () => {
  const select = { sql: texts, values: ['a'], bytes: 'octet_length(text)' }
  expect(await count(() => readMeasured(pools['direct']!, select))).toBe(10_000)
  await expect(count(() => readMeasured(pools['direct']!, select), 9_999)).rejects.toThrow('too many')
  await expect(readMeasured(pools['direct']!, select)).resolves.toHaveLength(10)
})
