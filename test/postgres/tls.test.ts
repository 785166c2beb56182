import { chmod, chown, copyFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrateWhenReady } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { createLogger, type Logger } from '../../lib/log.ts'
import { layoutOf } from '../../local/stack/layout.ts'
import { certificatesOf } from '../../local/stack/programs/certificates.ts'
import { postgresCommand } from '../../local/stack/programs/postgres.ts'
import { makeOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const log = createLogger('test', 'silent')
// Those of kube-apiserver, which are for localhost too. The kubelet's certificate is no authority.
const { authority, apiserver, apiserverKey, kubelet } = certificatesOf(layoutOf(stack.stateFolder))
let postgres: OwnPostgres

beforeAll(async () => {
  const settings = async (folder: string) => {
    const [certificate, key] = [path.join(folder, 'server.crt'), path.join(folder, 'server.key')]
    await copyFile(apiserver, certificate)
    await copyFile(apiserverKey, key)
    const { owner } = await postgresCommand('postgres', folder)
    for (const file of [certificate, key]) if (owner) await chown(file, owner.uid, owner.gid)
    await chmod(key, 0o600)
    return ['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`]
  }
  postgres = await makeOwnPostgres({ settings })
  await postgres.start()
})
afterAll(() => postgres?.remove())

function addressWith(host: string, ca: string): string {
  const url = new URL(postgres.databaseUrl)
  url.hostname = host
  url.search = `?sslmode=verify-full&sslrootcert=${ca}`
  return url.href
}

/** Tries to migrate, and returns the reason in the log. */
async function readReason(url: string): Promise<string | undefined> {
  const stop = new AbortController()
  let reported: string | undefined
  const warn = ({ reason }: { reason?: string }) => {
    reported = reason
    stop.abort()
  }
  await migrateWhenReady(url, { warn, info: warn, debug: () => {} } as unknown as Logger, { signal: stop.signal })
  return reported
}

test('connections are encrypted, and the certificate of the server is checked', async () => {
  const pool = createPool(addressWith('localhost', authority), log, 1)
  const { rows } = await pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
  await pool.end()
  expect(rows).toEqual([{ ssl: true }])
  expect(await readReason(addressWith('localhost', authority))).toBeUndefined()
})

test('a wrong authority is told in a sentence that says what to do', async () => {
  expect(await readReason(addressWith('localhost', kubelet))).toMatch(/not signed by the authority in sslrootcert/)
})

test('a file of an authority that is not there is told with its path', () => {
  expect(() => createPool(addressWith('localhost', '/none/ca.crt'), log, 1)).toThrow(
    'bad configuration: the address of the database names a file that cannot be read: /none/ca.crt',
  )
})

test('a Postgres without TLS is told', async () => {
  const url = new URL(stack.databaseUrl)
  url.search = '?sslmode=verify-full'
  expect(await readReason(url.href)).toMatch(/Postgres does not offer it/)
})
