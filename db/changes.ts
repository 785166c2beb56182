import { setTimeout as delay } from 'node:timers/promises'
import type { LeasedCache, Lease } from '../lib/leased-cache.ts'
import type { Logger } from '../lib/log.ts'
import { listen, type Listener } from './listen.ts'
import type { Pool } from './pool.ts'

const channel = 'changes'

// A process that hears nothing any more answers from memory for so long at most. Whoever makes a change waits as long
// before it says so, which is short enough for a person.
const leaseMs = 250
// Clocks of two machines run differently by far less in that time, and timers may fire a millisecond early.
const marginMs = 50
// Twice in a lease, so that one late probe does not end it.
const probeAfterMs = 100
// Then the database is asked instead.
const patienceMs = 100

/** What drops what it holds when it changes. */
export type Follower = Pick<LeasedCache<object>, 'drop' | 'clear'>

/**
 * Tells caches what has changed in the database (migration 0019 says what, and in which words), and gives them a lease.
 *
 * Notifications come in the order of their commits, on one connection. Before Postgres says that it is ready for the next
 * query, it sends the notifications of all transactions whose commit was acknowledged before the query was sent: a commit
 * signals the listening processes before it is acknowledged (`AtCommit_Notify` in xact.c, `SignalBackends` in async.c), and a
 * process that was signalled reads the queue before it sends ReadyForQuery (`PostgresMain` in postgres.c, since Postgres
 * 13). So the answer to a probe proves that all was heard that was acknowledged before the probe was sent.
 */
export class ChangeFeed implements Lease {
  readonly #followers: Follower[] = []
  #listener: Listener | undefined
  #sentAtMs = -Infinity
  #validUntilMs = -Infinity
  #probing: Promise<void> | undefined
  #renewing: Promise<boolean> | undefined

  /** Connects to a database that is migrated: an older one tells no changes. Until then there is no lease. */
  start(databaseUrl: string, log: Logger): void {
    const handlers = {
      onNotify: (_channel: string, tag: string) => this.#drop(tag),
      onConnect: () => this.#clear(),
      onDisconnect: () => this.#clear(),
    }
    this.#listener = listen(databaseUrl, [channel], handlers, log)
  }

  /** Tells a cache from now on. */
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
    // Nobody waits for a probe that is late.
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

  /** One at a time. It never throws: the lease runs out instead. */
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

/**
 * Waits until no process can use what it had in memory before a change that is committed. Whoever revokes, deletes or moves
 * something says so only after this, also when it was done already: another request may have done it just now.
 */
export async function waitForLeases(pool: Pool): Promise<void> {
  // What we have seen may be committed and not yet told. Its notification stands before ours, which is acknowledged.
  await pool.query({ name: 'notify_changes', text: 'SELECT pg_notify($1, $2)', values: [channel, ''] })
  await delay(leaseMs + marginMs)
}
