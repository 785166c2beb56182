import { randomUUID } from 'node:crypto'
import type { Connection, Pool } from '../pool.ts'
import { isDatabaseUnavailable } from '../unavailable.ts'

/** Where keys of the artifact store are held: in the database of the rows that point at them. */
export interface KeyHolds {
  pool: Pool
  schema: 'training' | 'tracing'
}

// Longer than any request takes. What a crash leaves ends by itself.
const maxHold = "interval '6 hours'"

/**
 * Holds a key while `write` stores an object under it and commits the row that points at it: until then nobody removes what
 * is there. A removal that is under way is waited for.
 */
export async function whileHoldingKey<T>(holds: KeyHolds, key: string, write: () => Promise<T>): Promise<T> {
  const holders = [await holdKey(holds, key)]
  return releaseAfter(holds, holders, write)
}

/** Releases keys when `write` is over. Where the database went away, the row may be committed all the same: they stay held. */
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

/** Holds a key until it is released; gives the id of the hold. */
export async function holdKey({ pool, schema }: KeyHolds, key: string): Promise<string> {
  const holder = randomUUID()
  await pool.query(
    `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))::text AS came)
     INSERT INTO ${schema}.held_keys (key, holder) SELECT $1, $2 FROM turn WHERE came IS NOT NULL`,
    [key, holder],
  )
  return holder
}

/** What is written is written: a hold that cannot be released now ends by itself. */
async function releaseKeys({ pool, schema }: KeyHolds, holders: string[]): Promise<void> {
  if (holders.length === 0) return
  await pool.query(`DELETE FROM ${schema}.held_keys WHERE holder = ANY ($1::uuid[])`, [holders]).catch(() => {})
}

/** Deletes the holds that their holders did not release. */
export async function expireHolds({ pool, schema }: KeyHolds): Promise<void> {
  await pool.query(`DELETE FROM ${schema}.held_keys WHERE held_at < now() - ${maxHold}`)
}

/**
 * Runs `work` while nobody writes under a key; false without doing so when somebody does just now. What
 * `work` finds out by this connection still holds when it removes the object: a writer that comes meanwhile waits, and puts
 * the object there anew.
 */
export async function whileUnheld(
  { pool, schema }: KeyHolds,
  key: string,
  work: (connection: Connection) => Promise<boolean>,
): Promise<boolean> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    // Where that fails here, the server may grant it later: then only the end of the connection lets it go.
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
