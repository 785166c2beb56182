import { randomUUID } from 'node:crypto'
import type { Connection, Pool } from '../pool.ts'
import { isDatabaseUnavailable } from '../unavailable.ts'

/** The database that records held keys of the artifact store. It also has the rows that refer to those keys. */
export interface KeyHolds {
  pool: Pool
  schema: 'training' | 'tracing'
}

// Longer than any request. A hold that a crash has left expires after this time.
const maxHold = "interval '6 hours'"

/**
 * Holds a key while `write` stores an object under it and commits the row that refers to it. Until then nobody removes
 * the object. Waits for a running removal of the key.
 */
export async function whileHoldingKey<T>(holds: KeyHolds, key: string, write: () => Promise<T>): Promise<T> {
  const holders = [await holdKey(holds, key)]
  return releaseAfter(holds, holders, write)
}

/**
 * Releases keys after `write`. If the database is unavailable, the row may be committed anyway, so the keys stay held.
 */
export async function releaseAfter<T>(holds: KeyHolds, holders: string[], write: () => Promise<T>): Promise<T> {
  let isSettled = true
  try {
    return await write()
  } catch (error) {
    isSettled = !isDatabaseUnavailable(error)
    throw error
  } finally {
    if (isSettled) await releaseKeys(holds, holders)
  }
}

/** Holds a key until it is released; returns the id of the hold. */
export async function holdKey({ pool, schema }: KeyHolds, key: string): Promise<string> {
  const holder = randomUUID()
  await pool.query(
    `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))::text AS came)
     INSERT INTO ${schema}.held_keys (key, holder) SELECT $1, $2 FROM turn WHERE came IS NOT NULL`,
    [key, holder],
  )
  return holder
}

/** The write is already done. A hold that cannot be released now expires by itself. */
async function releaseKeys({ pool, schema }: KeyHolds, holders: string[]): Promise<void> {
  if (holders.length === 0) return
  await pool.query(`DELETE FROM ${schema}.held_keys WHERE holder = ANY ($1::uuid[])`, [holders]).catch(() => {})
}

/** Deletes expired holds. */
export async function expireHolds({ pool, schema }: KeyHolds): Promise<void> {
  await pool.query(`DELETE FROM ${schema}.held_keys WHERE held_at < now() - ${maxHold}`)
}

/**
 * Runs `work` while nobody writes under a key. Returns false without running it if somebody is writing. What `work`
 * reads over this connection stays true until it removes the object: a new writer waits, and then stores the object
 * again.
 */
export async function whileUnheld(
  { pool, schema }: KeyHolds,
  key: string,
  work: (connection: Connection) => Promise<boolean>,
): Promise<boolean> {
  const client = await pool.sessions.connect()
  let broken: Error | undefined
  try {
    // If this fails here, the server may still grant the lock later. Only closing the connection releases it then.
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [key]).catch((error: Error) => {
      broken = error
      throw error
    })
    try {
      return !(await isHeld(client, schema, key)) && (await work(client))
    } finally {
      await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [key]).catch((error: Error) => {
        broken = error
      })
    }
  } finally {
    client.release(broken)
  }
}

async function isHeld(connection: Connection, schema: KeyHolds['schema'], key: string): Promise<boolean> {
  const { rowCount } = await connection.query(
    `SELECT FROM ${schema}.held_keys WHERE key = $1 AND held_at >= now() - ${maxHold} LIMIT 1`,
    [key],
  )
  return rowCount !== 0
}
