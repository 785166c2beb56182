import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { findKey, type KnownKey } from '../../../db/accounts/api-keys.ts'
import type { Pool } from '../../../db/pool.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'
import { LeasedCache, type Lease, type Loaded } from '../../../lib/leased-cache.ts'
import { applyDefaults, type LimitDefaults } from '../limits/limits.ts'
import type { RequestState } from '../context.ts'

/** A key that may be used now: what its requests are answered with. */
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
// Wrong keys that are all different ask for so many connections together; keys that were right before do not wait with them.
const strangersAtOnce = 4
// They take a few seconds. Half of them may come from one address: behind a proxy all clients have the same one.
const maxStrangers = 4_000
const maxKept = 10_000

/** What is kept for a key that nobody has. */
const nobody = { caller: undefined }
type Found = { caller: KnownCaller | undefined }

/**
 * Looks keys up for requests. The database is asked for what is not in memory, and for everything while nobody tells what
 * changes there; each request's look begins after the request.
 */
export class ApiKeyLookup {
  readonly #pool: Pool
  readonly #limitDefaults: LimitDefaults
  /** Drops what has changed. */
  readonly known: LeasedCache<Found>
  /** Keys that were right when they were looked up last. */
  readonly #right = new Set<string>()
  /** Keys that nobody has, and until when that is believed. */
  readonly #unknown = new Map<string, number>()
  /** Addresses take turns. */
  readonly #strangers = new FairSemaphore({ permits: strangersAtOnce })
  readonly #places = new FairSemaphore({ permits: maxStrangers, permitsPerKey: maxStrangers / 2 })

  constructor({ pool, lease, limitDefaults }: Deps) {
    this.#pool = pool
    this.#limitDefaults = limitDefaults
    this.known = new LeasedCache(lease, maxKept)
  }

  /** Who has the key of this digest, if that is in memory and true. */
  peek(digest: string): KnownCaller | undefined {
    return orExpired(this.known.peek(digest)?.caller)
  }

  /**
   * Who has the key of this digest (sha256 in base64), unless it is revoked or has expired.
   *
   * @throws {HttpError} 503 for a key that was not right before, when too many of those are being looked up
   */
  async find(digest: string, address: string): Promise<KnownCaller | undefined> {
    if ((this.#unknown.get(digest) ?? 0) > performance.now()) return undefined
    const { caller } = await this.known.get(digest, () => this.#load(digest, address))
    return orExpired(caller)
  }

  async #load(digest: string, address: string): Promise<Loaded<Found>> {
    const ask = () => findKey(this.#pool, Buffer.from(digest, 'base64'))
    const key = await (this.#right.has(digest) ? ask() : this.#askForStranger(address, ask))
    if (!key) {
      this.#markUnknown(digest)
      return { value: nobody }
    }
    this.#markKnown(digest)
    const { entity, keyId } = key
    return { value: { caller: this.#describe(key) }, owner: entity, tags: [`key:${keyId}`, `entity:${entity}`] }
  }

  #describe({ keyId, entity, role, expiresAt, ...set }: KnownKey): KnownCaller {
    const { weight, tokensPerMinute, ...limits } = applyDefaults(set, this.#limitDefaults)
    // Many requests share it.
    return Object.freeze({
      caller: Object.freeze({ keyId, entity, role, weight, tokensPerMinute }),
      limits: Object.freeze(limits),
      expiresAtMs: expiresAt?.getTime() ?? Infinity,
    })
  }

  async #askForStranger<T>(address: string, ask: () => Promise<T>): Promise<T> {
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

  #markKnown(digest: string): void {
    this.#unknown.delete(digest)
    if (this.#right.has(digest)) return
    if (this.#right.size >= maxKept) this.#right.clear()
    this.#right.add(digest)
  }

  /** The oldest go first: what was put in again is not the oldest any more. */
  #markUnknown(digest: string): void {
    this.#right.delete(digest)
    this.#unknown.delete(digest)
    this.#unknown.set(digest, performance.now() + unknownMs)
    const [oldest] = this.#unknown.keys()
    if (this.#unknown.size > maxKept && oldest !== undefined) this.#unknown.delete(oldest)
  }
}

/** Keys end by this machine's clock. */
function orExpired(caller: KnownCaller | undefined): KnownCaller | undefined {
  return caller && caller.expiresAtMs > Date.now() ? caller : undefined
}
