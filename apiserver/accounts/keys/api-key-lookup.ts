import { findKey, type KnownKey } from '../../../db/accounts/api-keys.ts'
import { findSession, type KnownSession } from '../../../db/accounts/sessions.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Turn } from '../../../lib/fair-semaphore.ts'
import { LeasedCache, type Lease, type Loaded } from '../../../lib/leased-cache.ts'
import { runInTurn } from '../../../lib/request-scope.ts'
import { applyDefaults, type LimitDefaults } from '../limits/limits.ts'
import type { Admission } from '../limits/admission.ts'
import { turnOf, type RequestState } from '../context.ts'
import { readDigest } from './credentials.ts'

/** A usable key or session, with what its requests need. */
export interface KnownCaller extends Readonly<RequestState> {
  expiresAtMs: number
}

interface Deps {
  admission: Pick<Admission, 'acquire'>
  pool: Pool
  lease: Lease
  limitDefaults: LimitDefaults
}

// A client that repeats a wrong key costs one query a second.
const unknownMs = 1_000
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
  readonly #admission: Pick<Admission, 'acquire'>

  constructor({ admission, pool, lease, limitDefaults }: Deps) {
    this.#admission = admission
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
   * @throws {LimitError} 503 if too many wait
   */
  async askForStranger<T>(address: string, ask: () => Promise<T>): Promise<T> {
    const turn = { key: address, weight: 1 }
    const leave = await this.#admission.acquire('waiting_key_lookups', turn)
    try {
      const release = await this.#admission.acquire('key_lookups', turn)
      return await ask().finally(release)
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
