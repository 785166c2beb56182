import { setTimeout as delay } from 'node:timers/promises'
import type { LeasedCache, Lease } from '../lib/leased-cache.ts'
import type { Logger } from '../lib/log.ts'
import type { DatabaseUrl } from './address.ts'
import { listen, type Listener } from './listen.ts'
import { withTransaction, type Connection, type Pool } from './pool.ts'

const channel = 'changes'

// A process that has lost its connection answers from memory for at most this long. A process that makes a change waits
// for the same time before it answers. That is short enough for a person.
const leaseMs = 250
// In that time, the clocks of two machines differ by far less than this. Timers may also fire a millisecond early.
const marginMs = 50
// Two probes fit into a lease, so one late probe does not end it.
const probeAfterMs = 100
// After this time the database is asked instead.
const patienceMs = 100

/** A cache that drops entries when they change. */
export type Follower = Pick<LeasedCache<object>, 'drop' | 'clear'>

/**
 * Tells caches what has changed in the database, and gives them a lease. The migrations define the notifications.
 *
 * Notifications arrive on one connection, in the order of their commits. Before Postgres is ready for the next query,
 * it sends the notifications of all transactions that were acknowledged before the query was sent. This holds because a
 * commit signals the listening processes before it is acknowledged (`AtCommit_Notify` in xact.c, `SignalBackends` in
 * async.c), and a signalled process reads the queue before it sends ReadyForQuery (`PostgresMain` in postgres.c, since
 * Postgres 13). So the answer to a probe proves that every change is known that was acknowledged before the probe was
 * sent.
 */
export class ChangeFeed implements Lease {
  readonly #followers: Follower[] = []
  #listener: Listener | undefined
  #sentAtMs = -Infinity
  #validUntilMs = -Infinity
  #probing: Promise<void> | undefined
  #renewing: Promise<boolean> | undefined

  /** Connects to a migrated database: an older one sends no notifications. There is no lease before the connection. */
  start(databaseUrl: DatabaseUrl, log: Logger): void {
    const handlers = {
      onNotify: (_channel: string, tag: string) => this.#drop(tag),
      onConnect: () => this.#clear(),
      onDisconnect: () => this.#clear(),
    }
    this.#listener = listen(databaseUrl, [channel], handlers, log)
  }

  /** Notifies a cache of changes from now on. */
  follow(follower: Follower): void {
    this.#followers.push(follower)
  }

  isValid(): boolean {
    const nowMs = performance.now()
    const isValid = nowMs < this.#validUntilMs
    if (isValid && nowMs - this.#sentAtMs > probeAfterMs) void this.#probe()
    return isValid
  }

  async renew(): Promise<boolean> {
    if (this.isValid()) return true
    // Nobody waits for a late probe.
    if (this.#probing && performance.now() - this.#sentAtMs > patienceMs) return false
    const probing = this.#probe()
    this.#renewing ??= Promise.race([probing, delay(patienceMs, undefined, { ref: false })]).then(() => {
      this.#renewing = undefined
      return this.isValid()
    })
    return this.#renewing
  }

  async close(): Promise<void> {
    await this.#listener?.close()
  }

  /** Runs one probe at a time. It never throws: the lease expires instead. */
  #probe(): Promise<void> {
    if (this.#probing) return this.#probing
    if (!this.#listener) return Promise.resolve()
    const sentAtMs = performance.now()
    this.#sentAtMs = sentAtMs
    this.#probing = this.#listener
      .probe()
      .then(
        () => void (this.#validUntilMs = sentAtMs + leaseMs),
        () => {},
      )
      .finally(() => (this.#probing = undefined))
    return this.#probing
  }

  #drop(tag: string): void {
    if (tag === 'all') this.#clear()
    else for (const follower of this.#followers) follower.drop(tag)
  }

  #clear(): void {
    this.#validUntilMs = -Infinity
    for (const follower of this.#followers) follower.clear()
  }
}

declare const invalidates: unique symbol
declare const haveEnded: unique symbol

/**
 * The transaction of `withInvalidation`. Functions that revoke, delete or move what processes have in memory take it, so
 * that nobody calls them without the wait.
 */
export type InvalidatingConnection = Connection & { readonly [invalidates]: true }

/** The proof that `waitForLeases` was called. */
export interface EndedLeases {
  readonly [haveEnded]: true
}

/**
 * Runs `work` in one transaction, as `withTransaction` does. Returns when no process can use values from before the
 * commit, also if `work` has changed nothing: a concurrent request may have made the change just now. If `work` throws,
 * nothing is waited for.
 */
export async function withInvalidation<T>(
  pool: Pool,
  work: (connection: InvalidatingConnection) => Promise<T>,
): Promise<T> {
  const result = await withTransaction(pool, (connection) => work(connection as InvalidatingConnection))
  await waitForLeases(pool)
  return result
}

/**
 * Waits until no process can use values from before a committed change. Only for changes that another process commits,
 * of which this one tells clients: the checkpoint of a trainer.
 */
export async function waitForLeases(pool: Pool): Promise<EndedLeases> {
  // A change that we read may be committed but not yet notified. Its notification comes before ours, and ours is
  // acknowledged.
  await pool.query('SELECT pg_notify($1, $2)', [channel, ''])
  await delay(leaseMs + marginMs)
  return {} as EndedLeases
}
