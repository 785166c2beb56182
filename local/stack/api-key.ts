import { createHash, randomBytes } from 'node:crypto'
import { createLogger } from '../../lib/log.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { findKey, insertApiKey } from '../../db/queries/api-keys.ts'

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

/** Makes a key of an entity. Only its sha256 is kept: the key itself is known to whoever gets it here, and to nobody else. */
export async function createApiKey(pool: Pool, entity: string): Promise<string> {
  const key = generateApiKey()
  await insertApiKey(pool, entity, digestOf(key))
  return key
}

/** Whether a key is known and not revoked. */
export async function isKnownKey(pool: Pool, key: string): Promise<boolean> {
  return (await findKey(pool, digestOf(key))) !== undefined
}

/** 46 characters: the wandb client refuses keys of fewer than 40. */
export function generateApiKey(): string {
  return `ty_${randomBytes(32).toString('base64url')}`
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
