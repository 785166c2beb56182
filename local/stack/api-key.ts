import { randomUUID } from 'node:crypto'
import { createKey } from '../../apiserver/accounts/keys/service.ts'
import { digestKey } from '../../apiserver/accounts/keys/secret.ts'
import { createLogger } from '../../lib/log.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { commandActor } from '../../db/accounts/audit-log.ts'
import { findKey } from '../../db/accounts/api-keys.ts'

/** The entity of the first key, which `up` creates. */
export const defaultEntity = 'local'

/** Runs `work` on the stack's migrated database. */
export async function withDatabase<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const log = createLogger('local', 'error')
  await migrate(url, log)
  const pool = createPool(url, log, 1)
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

/** Creates an admin key of an entity and returns it. The database only has its sha256. */
export async function createApiKey(pool: Pool, entity: string): Promise<string> {
  return (await createKey(pool, { id: randomUUID(), entity, role: 'admin', by: commandActor })).key
}

/** Whether a key exists and is not revoked. */
export async function isKnownKey(pool: Pool, key: string): Promise<boolean> {
  return (await findKey(pool, digestKey(key))) !== undefined
}
