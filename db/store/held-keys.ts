import { randomUUID } from 'node:crypto'
import { repeat } from '../../lib/repeat.ts'
import type { Connection, Pool } from '../pool.ts'
import { DatabaseUnavailable, isDatabaseUnavailable } from '../unavailable.ts'

/** The database that records held keys of the artifact store. It also has the rows that refer to those keys. */
export interface KeyHolds {
  pool: Pool
  schema: 'training' | 'tracing'
}

// The hold of a process that dies, or is cut off from Postgres, ends after this time. The clock is that of Postgres.
const holdFor = "interval '1 minute'"
const renewMs = 10_000
// No commit begins later than this after the last renewal, so that the hold outlasts it, also without another renewal.
const maxUnrenewedMs = 30_000

/** What is written under a held key: first the object, then the row that refers to it. */
export interface HeldWrite<S, T> {
  store: () => Promise<S>
  commit: (stored: S) => Promise<T>
}

/**
 * Holds a key while an object is stored under it and the row that refers to it is committed. Until then nobody removes the
 * object. Waits for a running removal of the key.
 */
export async function whileHoldingKey<S, T>(holds: KeyHolds, key: string, write: HeldWrite<S, T>): Promise<T> {
  const held = new HeldKeys(holds)
  await held.acquire(key)
  return held.write(write)
}

/** Keys that this process holds for one write. It renews the holds together until the write ends, or it dies. */
export class HeldKeys {
  readonly #holds: KeyHolds
  readonly #holder = randomUUID()
  readonly #keys = new Set<string>()
  readonly #ending = new AbortController()
  #renewedAt: Clocks | undefined
  #renewing: Promise<void> | undefined

  constructor(holds: KeyHolds) {
    this.#holds = holds
  }

  /** Holds another key. Waits for a running removal of it. */
  async acquire(key: string): Promise<void> {
    if (this.#keys.has(key)) return
    const { pool, schema } = this.#holds
    const asked = readClocks()
    await pool.query(
      `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))::text AS came)
       INSERT INTO ${schema}.held_keys (key, holder, expires_at)
       SELECT $1, $2, clock_timestamp() + ${holdFor} FROM turn WHERE came IS NOT NULL`,
      [key, this.#holder],
    )
    this.#keys.add(key)
    // The oldest hold decides.
    this.#renewedAt ??= asked
    const { signal } = this.#ending
    // What fails once is tried again. If nothing succeeds, the holds end.
    this.#renewing ??= repeat(() => this.#renew(), { pauseMs: renewMs, pauseFirst: true, signal, onError: () => {} })
  }

  /**
   * Stores objects under the keys, to which `store` may add, commits the rows that refer to them, and releases the keys. If
   * the database is unavailable, the rows may be committed anyway, so the keys stay held until their time is over.
   *
   * @throws {DatabaseUnavailable} without a commit if a key may no longer be held
   */
  async write<S, T>({ store, commit }: HeldWrite<S, T>): Promise<T> {
    let isSettled = true
    try {
      const stored = await store()
      this.#requireHeld()
      return await commit(stored)
    } catch (error) {
      isSettled = !isDatabaseUnavailable(error)
      throw error
    } finally {
      this.#ending.abort()
      if (isSettled) await this.#release()
    }
  }

  #requireHeld(): void {
    if (this.#renewedAt && elapsedSince(this.#renewedAt) > maxUnrenewedMs)
      throw new DatabaseUnavailable('a held key of the artifact store could not be renewed')
  }

  /** The write is already done. Holds that cannot be released now end by themselves. */
  async #release(): Promise<void> {
    // Two statements on the same rows could wait for each other.
    await this.#renewing
    if (this.#keys.size === 0) return
    const { pool, schema } = this.#holds
    await pool
      .query(`DELETE FROM ${schema}.held_keys WHERE key = ANY ($1) AND holder = $2`, [[...this.#keys], this.#holder])
      .catch(() => {})
  }

  async #renew(): Promise<void> {
    const { pool, schema } = this.#holds
    const asked = readClocks()
    const keys = [...this.#keys]
    // A hold that has ended stays ended: the object may have been removed since.
    const { rowCount } = await pool.query(
      `UPDATE ${schema}.held_keys SET expires_at = clock_timestamp() + ${holdFor}
       WHERE key = ANY ($1) AND holder = $2 AND expires_at >= clock_timestamp()`,
      [keys, this.#holder],
    )
    this.#renewedAt = rowCount === keys.length ? asked : never
  }
}

// The first clock never jumps, but stops while the machine is suspended; the second one goes on.
type Clocks = readonly [monotonicMs: number, wallMs: number]
const readClocks = (): Clocks => [performance.now(), Date.now()]
const elapsedSince = ([monotonicMs, wallMs]: Clocks) => Math.max(performance.now() - monotonicMs, Date.now() - wallMs)
const never: Clocks = [-Infinity, -Infinity]

/** Deletes holds that have ended. */
export async function expireHolds({ pool, schema }: KeyHolds): Promise<void> {
  await pool.query(`DELETE FROM ${schema}.held_keys WHERE expires_at < clock_timestamp()`)
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
    `SELECT FROM ${schema}.held_keys WHERE key = $1 AND expires_at >= clock_timestamp() LIMIT 1`,
    [key],
  )
  return rowCount !== 0
}
