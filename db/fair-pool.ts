import pg from 'pg'
import { FairSemaphore, PermitTimeout } from '../lib/fair-semaphore.ts'
import { currentTurn } from '../lib/request-scope.ts'
import { DatabaseUnavailable } from './unavailable.ts'

export interface FairPoolConfig extends pg.PoolConfig {
  /** Whether the pool answers requests of users: none of those who share it gets more than half of its connections. */
  isShared?: boolean
}

type OnConnection = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void

// How long somebody waits for a connection.
const defaultTimeoutMs = 5_000

/**
 * A pool whose connections are given out in turn to those who share it: entities, the server's own work, and requests
 * whose key is not known yet. The turn is that of the running request, so a route need not name it.
 */
export class FairPool extends pg.Pool {
  /** How often somebody had to wait for a connection. */
  waits = 0
  /** How many wait now. */
  waiting = 0
  /** Connections that keep locks from one transaction to the next: behind a pooler in transaction mode, others. */
  sessions: pg.Pool = this
  /** Begins a transaction. Behind a pooler, it has the time limits that connections have elsewhere. */
  begin = 'BEGIN'
  /** One permit for each connection. So whoever has a permit finds a connection. */
  readonly #turns: FairSemaphore
  readonly #permits = new WeakMap<pg.PoolClient, () => void>()
  readonly #timeoutMs: number

  constructor({ isShared = false, connectionTimeoutMillis = defaultTimeoutMs, ...config }: FairPoolConfig) {
    super({ ...config, connectionTimeoutMillis })
    this.#timeoutMs = connectionTimeoutMillis
    const permits = this.options.max
    this.#turns = new FairSemaphore({ permits, permitsPerKey: isShared ? Math.ceil(permits / 2) : permits })
    this.on('release', (_, client) => this.#permits.get(client)?.())
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: OnConnection): void
  override connect(callback?: OnConnection): Promise<pg.PoolClient> | void {
    const connected = this.#connect()
    if (!callback) return connected
    void hand(connected, callback)
  }

  override async end(): Promise<void> {
    if (this.sessions !== this) await this.sessions.end()
    await super.end()
  }

  async #connect(): Promise<pg.PoolClient> {
    const release = await this.#takeTurn()
    try {
      const client = await super.connect()
      this.#permits.set(client, release)
      return client
    } catch (error) {
      release()
      throw error
    }
  }

  async #takeTurn(): Promise<() => void> {
    const turn = currentTurn()
    const free = this.#turns.tryAcquire(turn)
    if (free) return free
    this.waits++
    this.waiting++
    try {
      return await this.#turns.acquire({ ...turn, timeoutMs: this.#timeoutMs })
    } catch (error) {
      throw error instanceof PermitTimeout ? new DatabaseUnavailable('no connection became free in time') : error
    } finally {
      this.waiting--
    }
  }
}

async function hand(connected: Promise<pg.PoolClient>, callback: OnConnection): Promise<void> {
  const [result] = await Promise.allSettled([connected])
  if (result.status === 'rejected') callback(result.reason as Error, undefined, () => {})
  else callback(undefined, result.value, (error) => result.value.release(error))
}
