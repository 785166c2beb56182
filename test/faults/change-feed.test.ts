import { afterAll, beforeAll, expect, test } from 'vitest'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const feed = 'trainyard listens to changes'
let database: TestDatabase
let servers: [RunningApiServer, RunningApiServer]
let rest: Rest

beforeAll(async () => {
  database = await createTestDatabase()
  const start = () => startApiServer(stack, database.databaseUrl)
  servers = await Promise.all([start(), start()])
  rest = createRest({ ...stack, url: servers[0].url }, await addKey(database.pool, 'team', 'admin'))
})
afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.remove()))
  await database?.drop()
})

const statusOf = async (key: string) =>
  (await fetch(`${servers[1].url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status

/** What the other process answers a key after it was revoked, many times; some of its requests come all the time. */
async function revokeMany(): Promise<number[]> {
  const lane = async () => {
    const statuses = []
    for (let times = 0; times < 5; times++) {
      const { id, key } = await rest.call<{ id: string; key: string }>('POST', '/v1/preview/keys', { role: 'read' })
      expect([await statusOf(key), await statusOf(key)]).toEqual([200, 200])
      await rest.call('DELETE', `/v1/preview/keys/${id}`)
      statuses.push(await statusOf(key))
    }
    return statuses
  }
  return (await Promise.all(Array.from({ length: 4 }, lane))).flat()
}

test.each([
  ['is cut', () => servers[1].postgres.cutOnly(feed)],
  ['says nothing any more', () => servers[1].postgres.hang(feed)],
])('a revoked key is refused where the connection that tells changes %s, and afterwards', async (_, block) => {
  block()
  expect(new Set(await revokeMany())).toEqual(new Set([401]))
  servers[1].postgres.mend()
  expect(new Set(await revokeMany())).toEqual(new Set([401]))
})

test('a process whose connection was silent makes a new one', async () => {
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
  }, 30_000)
})
