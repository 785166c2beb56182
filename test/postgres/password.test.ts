import { randomUUID } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { makeOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const log = createLogger('test', 'silent')
let postgres: OwnPostgres
let server: RunningApiServer
let folder: string

/** Writes the address as Kubernetes writes a file of a Secret: in one step. */
async function writeAddress(url: string): Promise<void> {
  const file = path.join(folder, 'database-url')
  await writeFile(`${file}.new`, `${url}\n`)
  await rename(`${file}.new`, file)
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trainyard-password-'))
  postgres = await makeOwnPostgres()
  await postgres.start()
  await migrate(postgres.databaseUrl, log)
  await migrate(postgres.databaseUrl, log, 'tracing')
  await writeAddress(postgres.databaseUrl)
  server = await startApiServer(stack, postgres.databaseUrl, { TRAINYARD_DATABASE_FOLDER: folder, LOG_LEVEL: 'silent' })
})
afterAll(async () => {
  await server?.remove()
  await postgres?.remove()
  await rm(folder, { recursive: true })
})

test('a changed password loses no request that is retried', async () => {
  const admin = createPool(postgres.databaseUrl, log, 1)
  const key = await addKey(admin, 'acme', 'admin')
  const statuses = new Set<number>()
  const create = async (index: number) => {
    const body = { url: `https://example.com/${index}` }
    const headers = { 'idempotency-key': randomUUID() }
    for (;;) {
      const { status } = await post(`${server.url}/v1/preview/webhooks`, key, body, { headers })
      statuses.add(status)
      if (status !== 503) return
      await delay(100)
    }
  }
  await create(0)
  await admin.query("ALTER ROLE trainyard PASSWORD 'changed'")
  // Open connections stay. Others have to be opened with the new password when these break.
  await admin.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()',
  )
  const posts = Array.from({ length: 50 }, (_, index) => create(index + 1))
  await eventually(() => expect(statuses).toContain(503))
  const changed = new URL(postgres.databaseUrl)
  changed.password = 'changed'
  await writeAddress(changed.href)
  await Promise.all(posts)
  const { rows } = await admin.query('SELECT count(DISTINCT url), count(*) AS all FROM training.webhooks')
  await admin.end()
  expect({ statuses, rows }).toEqual({ statuses: new Set([200, 503]), rows: [{ count: 51, all: 51 }] })
})
