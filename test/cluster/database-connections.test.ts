import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPool, createTracePool, withTransaction, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { useApiServer } from '../support/api-server.ts'
import { createHelm, parseManifests } from '../support/helm.ts'
import { useStack } from '../support/stack.ts'

interface Deployment {
  spec: {
    replicas: number
    template: { spec: { containers: { env: { name: string; value?: string }[] }[] } }
  }
}

const stack = useStack()
const helm = createHelm(stack)
const namespace = `connections-${randomUUID().slice(0, 8)}`
const pools = {
  TRAINYARD_DATABASE_CONNECTIONS: 3,
  TRAINYARD_TRACING_CONNECTIONS: 2,
  TRAINYARD_TRACE_WRITE_CONNECTIONS: 3,
}
const own = useApiServer(Object.fromEntries(Object.entries(pools).map(([name, count]) => [name, String(count)])))

// Of each process, besides its pools: connections that listen, and one that migrates.
const others: Record<string, number> = {
  'trainyard-apiserver': 2 + 1,
  'trainyard-operator': 1 + 1,
  'trainyard-status-server': 1 + 1,
}
// superuser_reserved_connections is 3 by default.
const available = 100 - 3

async function addUp(values: object, surge = 0): Promise<number> {
  const manifests = parseManifests(await helm.render(namespace, values)).filter(({ kind }) => kind === 'Deployment')
  const counts = manifests.map((manifest) => {
    const { spec } = manifest as unknown as Deployment
    const env = new Map(spec.template.spec.containers[0]!.env.map(({ name, value }) => [name, Number(value)]))
    const ofPools = Object.keys(pools).map((name) => env.get(name) ?? 0)
    const ofProcess = ofPools.reduce((sum, count) => sum + count, others[manifest.metadata.name]!)
    return ofProcess * (spec.replicas + Math.ceil(spec.replicas * surge))
  })
  expect(counts).toHaveLength(3)
  return counts.reduce((sum, count) => sum + count, 0)
}

const two = { apiserver: { replicas: 2 }, operator: { replicas: 2 }, statusServer: { replicas: 2 } }

test('two replicas of all parts fit into a Postgres of 100 connections, and one during an upgrade', async () => {
  expect(await addUp(two)).toBeLessThanOrEqual(available)
  expect(await addUp({}, 0.25)).toBeLessThanOrEqual(available)
})

test.each<[string, object]>([
  ['the defaults', {}],
  ['two replicas', two],
  [
    'other pools and more replicas',
    {
      apiserver: { replicas: 20 },
      statusServer: { replicas: 0 },
      database: { connections: { apiserver: { main: 20, traceWrites: 4 }, operator: { traces: 5 } } },
    },
  ],
])('an installation prints how many connections its parts open: %s', async (_, values) => {
  const notes = (await helm.notes(namespace, values)).replaceAll(/\s+/g, ' ')
  expect(notes).toContain(
    `at most ${await addUp(values)} connections to Postgres, and ${await addUp(values, 0.25)} during a rolling upgrade`,
  )
})

test('a process opens no more connections than its settings say', async () => {
  // An entity alone takes at most half of a pool.
  const clients = [await own.join('acme'), await own.join('globex')]
  const { pool, databaseUrl } = own.database
  let lockPid = 0
  const countConnections = async () => {
    const { rows } = await pool.query<{ count: number }>(
      'SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid() AND pid <> $2',
      [new URL(databaseUrl).pathname.slice(1), lockPid],
    )
    return rows[0]!.count
  }
  const list = (_: unknown, index: number) => clients[index % 2]!.send('GET', '/v1/preview/models')
  let answers: Promise<Response[]> | undefined
  // The lists wait for this lock, so the pool for requests is full until it is released.
  await withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    lockPid = rows[0]!.pid
    await connection.query('LOCK TABLE training.models IN ACCESS EXCLUSIVE MODE')
    answers = Promise.all(Array.from({ length: 100 }, list))
    // All of the pool for requests, and those that listen.
    const expected = pools.TRAINYARD_DATABASE_CONNECTIONS + 2
    await vi.waitFor(async () => expect(await countConnections()).toBeGreaterThanOrEqual(expected), { timeout: 5_000 })
  })
  const poolSum = Object.values(pools).reduce((sum, count) => sum + count, 0)
  expect(await countConnections()).toBeLessThanOrEqual(poolSum + others['trainyard-apiserver']!)
  // A request that waits for a connection for too long is a 503.
  expect((await answers!).map(({ status }) => status)).toContain(200)
})

const log = createLogger('test', 'silent')

/** How many statements the only connection of a pool has prepared, after it has executed some a number of times. */
async function countPrepared(pool: Pool, texts: string[], times: number): Promise<number> {
  for (const text of texts) for (let time = 0; time < times; time++) await pool.query(text, ['a'])
  const { rows } = await pool.query<{ count: number }>('SELECT count(*) FROM pg_prepared_statements')
  return rows[0]!.count
}

test('a connection prepares the statements that it repeats, up to a limit; those of traces it does not', async () => {
  const { databaseUrl } = own.database
  const [pool, traces] = [createPool(databaseUrl, log, 1), createTracePool(databaseUrl, log, 1)]
  onTestFinished(async () => void (await Promise.all([pool.end(), traces.end()])))
  const repeated = 'SELECT $1::text AS a'
  expect(await countPrepared(pool, [repeated], 4)).toBe(0)
  expect(await countPrepared(pool, [repeated], 1)).toBe(1)
  expect((await pool.query(repeated, ['b'])).rows).toEqual([{ a: 'b' }])
  const many = Array.from({ length: 300 }, (_, number) => `SELECT $1::text AS a${number}`)
  expect(await countPrepared(pool, many, 5)).toBe(256)
  expect(await countPrepared(traces, [repeated], 9)).toBe(0)
})
