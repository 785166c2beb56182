import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { findKey, type KnownKey } from '../../../db/accounts/api-keys.ts'
import type { Pool } from '../../../db/pool.ts'
import { FairSemaphore } from '../../../lib/fair-semaphore.ts'

type Answer = Promise<KnownKey | undefined>

interface GivenKey {
  name: string
  digest: Buffer
  /** From where it was sent. */
  address: string
}

// A client that repeats a wrong key costs one query a second.
const unknownMs = 1_000
// Wrong keys that are all different ask for so many connections together; keys that were right before do not wait with them.
const strangersAtOnce = 4
// They take a few seconds. Half of them may come from one address: behind a proxy all clients have the same one.
const maxStrangers = 4_000
const maxKept = 10_000

/**
 * Looks keys up for requests. Requests with the same key that come in while it is being looked up share the next look: one
 * query at a time for each key, however many requests there are, and each request's begins after the request.
 */
export class ApiKeyLookup {
  readonly #pool: Pool
  readonly #running = new Map<string, Answer>()
  readonly #next = new Map<string, Answer>()
  /** Keys that were right when they were looked up last. */
  readonly #right = new Set<string>()
  /** Keys that nobody has, and until when that is believed. */
  readonly #unknown = new Map<string, number>()
  /** Addresses take turns. */
  readonly #strangers = new FairSemaphore({ permits: strangersAtOnce })
  readonly #places = new FairSemaphore({ permits: maxStrangers, permitsPerKey: maxStrangers / 2 })

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /**
   * The key with this sha256, unless it is revoked or has expired.
   *
   * @throws {HttpError} 503 for a key that was not right before, when too many of those are being looked up
   */
  find(digest: Buffer, address: string): Answer {
    const name = digest.toString('base64')
    if ((this.#unknown.get(name) ?? 0) > performance.now()) return Promise.resolve(undefined)
    const running = this.#running.get(name)
    const given = { name, digest, address }
    if (!running) return this.#look(given)
    const next = this.#next.get(name) ?? this.#lookAfter(running, given)
    this.#next.set(name, next)
    return next
  }

  async #lookAfter(running: Answer, given: GivenKey): Answer {
    await running.catch(() => {})
    this.#next.delete(given.name)
    // A later request may have begun it already.
    return this.#running.get(given.name) ?? this.#look(given)
  }

  #look(given: GivenKey): Answer {
    const answer = this.#ask(given).finally(() => this.#running.delete(given.name))
    this.#running.set(given.name, answer)
    return answer
  }

  async #ask({ name, digest, address }: GivenKey): Answer {
    const ask = () => findKey(this.#pool, digest)
    const known = await (this.#right.has(name) ? ask() : this.#askForStranger(address, ask))
    if (known) this.#markKnown(name)
    else this.#markUnknown(name)
    return known
  }

  async #askForStranger(address: string, ask: () => Answer): Answer {
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

  #markKnown(name: string): void {
    this.#unknown.delete(name)
    if (this.#right.has(name)) return
    if (this.#right.size >= maxKept) this.#right.clear()
    this.#right.add(name)
  }

  /** The oldest go first: what was put in again is not the oldest any more. */
  #markUnknown(name: string): void {
    this.#right.delete(name)
    this.#unknown.delete(name)
    this.#unknown.set(name, performance.now() + unknownMs)
    const [oldest] = this.#unknown.keys()
    if (this.#unknown.size > maxKept && oldest !== undefined) this.#unknown.delete(oldest)
  }
}
