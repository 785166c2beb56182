import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { findKey, type KnownKey } from '../../../db/accounts/api-keys.ts'
import { findSession, type KnownSession } from '../../../db/accounts/sessions.ts'
import type { Pool } from '../../../db/pool.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import { LeasedCache, type Lease, type Loaded } from '../../../lib/leased-cache.ts'
import { runInTurn } from '../../../lib/request-scope.ts'
import { applyDefaults, type LimitDefaults } from '../limits/limits.ts'
import { turnOf, type Turn } from '../limits/turn.ts'
import type { RequestState } from '../context.ts'
import { readDigest } from './credentials.ts'

/** A usable key or session, with what its requests need. */
export interface KnownCaller extends Readonly<RequestState> {
  expiresAtMs: number
}

interface Deps {
  pool: Pool
  lease: Lease
  limitDefaults: LimitDefaults
}

// A client that repeats a wrong key costs one query a second.
const unknownMs = 1_000
// Look-ups of unknown keys share this many connections. Keys that were valid before do not wait behind them.
const strangersAtOnce = 4
// The queue takes a few seconds. One address may use half of it, because all clients behind a proxy have the same
// address.
const maxStrangers = 4_000
const maxKept = 10_000

/** The cached value of a key that does not exist. */
const nobody = { caller: undefined }
type Asked = KnownKey & Partial<Pick<KnownSession, 'sessionId'>>
type Found = { caller: KnownCaller | undefined }

/**
 * Looks up the API keys of requests. It queries the database for keys that are not in memory, and for all keys while
 * there is no lease. Each request's query begins after the request.
 */
export class ApiKeyLookup {
  readonly #pool: Pool
  readonly #limitDefaults: LimitDefaults
  /** Drops keys that have changed. */
  readonly known: LeasedCache<Found>
  /** Keys that were valid at their last look-up, with the turns of their entities. */
  readonly #right = new Map<string, Turn>()
  /** Unknown keys, and until when they are assumed to be unknown. */
  readonly #unknown = new Map<string, number>()
  /** Addresses share the permits. */
  readonly #strangers = new FairSemaphore({ permits: strangersAtOnce })
  readonly #places = new FairSemaphore({ permits: maxStrangers, permitsPerKey: maxStrangers / 2 })

  constructor({ pool, lease, limitDefaults }: Deps) {
    this.#pool = pool
    this.#limitDefaults = limitDefaults
    this.known = new LeasedCache(lease, maxKept)
  }

  /**
   * Finds the caller with the key or the session of this digest (see credentials.ts), unless the key is revoked or
   * expired.
   *
   * @throws {HttpError} 503 for a new key, if too many new keys are being looked up
   */
  async find(digest: string, address: string): Promise<KnownCaller | undefined> {
    if ((this.#unknown.get(digest) ?? 0) > performance.now()) return undefined
    const { caller } = await this.known.get(digest, () => this.#load(digest, address))
    return orExpired(caller)
  }

  async #load(digest: string, address: string): Promise<Loaded<Found>> {
    const ask = () => this.#ask(digest)
    const turn = this.#right.get(digest)
    const key = await (turn ? runInTurn(turn, ask) : this.askForStranger(address, ask))
    if (!key) {
      this.#markUnknown(digest)
      return { value: nobody }
    }
    const caller = this.#describe(key)
    this.#markKnown(digest, turnOf(caller.caller))
    const { entity, keyId, sessionId } = key
    const tags = [`key:${keyId}`, `entity:${entity}`, ...(sessionId === undefined ? [] : [`session:${sessionId}`])]
    return { value: { caller }, owner: entity, tags }
  }

  #ask(digest: string): Promise<Asked | undefined> {
    const { isSession, bytes } = readDigest(digest)
    return isSession ? findSession(this.#pool, bytes) : findKey(this.#pool, bytes)
  }

  #describe({ keyId, sessionId, entity, role, expiresAt, traceProject, ...set }: Asked): KnownCaller {
    const { weight, tokensPerMinute, queuedJobs, ...limits } = applyDefaults(set, this.#limitDefaults)
    const session = sessionId === undefined ? {} : { sessionId }
    // Many requests share this object.
    return Object.freeze({
      caller: Object.freeze({ keyId, ...session, entity, role, weight, tokensPerMinute, queuedJobs, traceProject }),
      limits: Object.freeze(limits),
      expiresAtMs: expiresAt?.getTime() ?? Infinity,
    })
  }

  /**
   * Asks the database for a key or code of somebody who is not known yet. Addresses share some of its connections.
   *
   * @throws {HttpError} 503 if too many wait
   */
  async askForStranger<T>(address: string, ask: () => Promise<T>): Promise<T> {
    const leave = this.#places.tryAcquire({ key: address })
    if (!leave)
      throw new HttpError(errors.server_busy, 'Too many new API keys are being looked up. Send this request again.', {
        retryAfterSeconds: 1,
      })
    try {
      return await this.#strangers.run({ key: address }, ask)
    } finally {
      leave()
    }
  }

  #markKnown(digest: string, turn: Turn): void {
    this.#unknown.delete(digest)
    if (this.#right.size >= maxKept && !this.#right.has(digest)) this.#right.clear()
    this.#right.set(digest, turn)
  }

  /** Removes the oldest entries first. An entry that is added again becomes the newest. */
  #markUnknown(digest: string): void {
    this.#right.delete(digest)
    this.#unknown.delete(digest)
    this.#unknown.set(digest, performance.now() + unknownMs)
    const [oldest] = this.#unknown.keys()
    if (this.#unknown.size > maxKept && oldest !== undefined) this.#unknown.delete(oldest)
  }
}

/** Keys expire by this machine's clock. */
function orExpired(caller: KnownCaller | undefined): KnownCaller | undefined {
  return caller && caller.expiresAtMs > Date.now() ? caller : undefined
}
