import { randomUUID } from 'node:crypto'
import { createKey } from '../../apiserver/accounts/keys/service.ts'
import { digestKey } from '../../apiserver/accounts/keys/secret.ts'
import { createLogger } from '../../lib/log.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { commandActor } from '../../db/accounts/audit-log.ts'
import { findKey } from '../../db/accounts/api-keys.ts'

/** The entity of the key that the first `up` makes. */
export const defaultEntity = 'local'

/** Works on the stack's migrated database. */
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

/** Makes an admin key of an entity. The database keeps its sha256 only: the key itself is in the answer and nowhere else. */
export async function createApiKey(pool: Pool, entity: string): Promise<string> {
  return (await createKey(pool, { id: randomUUID(), entity, role: 'admin', by: commandActor })).key
}

/** Whether a key is known and not revoked. */
export async function isKnownKey(pool: Pool, key: string): Promise<boolean> {
  return (await findKey(pool, digestKey(key))) !== undefined
}
