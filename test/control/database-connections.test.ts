import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
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
const own = useApiServer(stack, Object.fromEntries(Object.entries(pools).map(([name, count]) => [name, String(count)])))

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
    return ofProcess * (env.get('TRAINYARD_PROCESSES') ?? 1) * (spec.replicas + Math.ceil(spec.replicas * surge))
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
    'other pools and several processes',
    {
      apiserver: { replicas: 5, processes: 4 },
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
  const rest = await own.join('acme')
  const { pool, databaseUrl } = own.database
  const countConnections = async () => {
    const { rows } = await pool.query<{ count: number }>(
      'SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
      [new URL(databaseUrl).pathname.slice(1)],
    )
    return rows[0]!.count
  }
  const list = () => rest.send('GET', '/v1/preview/models')
  const counts: number[] = []
  let isDone = false
  const counting = (async () => {
    while (!isDone) counts.push(await countConnections())
  })()
  const answers = await Promise.all(Array.from({ length: 100 }, list))
  isDone = true
  await counting
  // A request that waits for a connection for too long is a 503.
  expect(answers.map(({ status }) => status)).toContain(200)
  const poolSum = Object.values(pools).reduce((sum, count) => sum + count, 0)
  const busiest = Math.max(...counts)
  expect(busiest).toBeLessThanOrEqual(poolSum + others['trainyard-apiserver']!)
  // All of the pool for requests, and those that listen.
  expect(busiest).toBeGreaterThanOrEqual(pools.TRAINYARD_DATABASE_CONNECTIONS + 2)
})
