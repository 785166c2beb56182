import { afterAll, beforeAll, expect, test } from 'vitest'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const feed = 'trainyard listens to changes'
const database = useTestDatabase()
let servers: [RunningApiServer, RunningApiServer]
let rest: Rest

beforeAll(async () => {
  const start = () => startApiServer(stack, database.databaseUrl)
  servers = await Promise.all([start(), start()])
  rest = createRest({ ...stack, url: servers[0].url }, await addKey(database.pool, 'team', 'admin'))
})
afterAll(() => Promise.all((servers ?? []).map((server) => server.remove())))

const statusOf = async (key: string) =>
  (await fetch(`${servers[1].url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status

interface Key {
  id: string
  key: string
}

/** Keys that the other process has in memory, with a lease that has just begun. */
async function makeKnownKeys(): Promise<Key[]> {
  const make = () => rest.call<Key>('POST', '/v1/preview/keys', { role: 'read' })
  const keys = await Promise.all(Array.from({ length: 10 }, make))
  const useAll = async () => {
    for (const { key } of keys) expect(await statusOf(key)).toBe(200)
  }
  await eventually(async () => {
    await useAll()
    const before = servers[1].postgres.sent
    await useAll()
    // A list of models is two queries.
    expect(servers[1].postgres.sent - before).toBeLessThan(keys.length * 2.5)
  })
  return keys
}

/** The other process's answer to a key that was just revoked. */
async function revoke({ id, key }: Key): Promise<number> {
  await rest.call('DELETE', `/v1/preview/keys/${id}`)
  return statusOf(key)
}

test.each([
  ['is cut', () => servers[1].postgres.cutOnly(feed)],
  ['is silent', () => servers[1].postgres.hang(feed)],
])('a revoked key is rejected while the connection for notifications %s, and afterwards', async (_, block) => {
  const [blocked, mended] = [await makeKnownKeys(), await makeKnownKeys()]
  block()
  expect(new Set(await Promise.all(blocked.map(revoke)))).toEqual(new Set([401]))
  servers[1].postgres.mend()
  expect(new Set(await Promise.all(mended.map(revoke)))).toEqual(new Set([401]))
})

test('a process with a silent connection opens a new one', async () => {
  const listPids = async () => {
    const text = 'SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()'
    return (await database.pool.query<{ pid: number }>(text, [feed])).rows.map(({ pid }) => pid)
  }
  const key = await addKey(database.pool, 'team')
  const before = await listPids()
  servers[1].postgres.hang(feed)
  await statusOf(key)
  servers[1].postgres.mend()
  await eventually(async () => {
    await statusOf(key)
    expect((await listPids()).filter((pid) => !before.includes(pid))).not.toEqual([])
  })
})
