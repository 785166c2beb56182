import { findKey, type KnownKey } from '../../db/queries/api-keys.ts'
import type { Pool } from '../../db/pool.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'

type Answer = Promise<KnownKey | undefined>

// Whoever sends a wrong key again and again costs a question a second.
const unknownMs = 1_000
// Wrong keys that are all different ask for so many connections together; keys that were right before do not wait with them.
const strangersAtOnce = 4
const mostKept = 10_000

/**
 * Looks keys up for requests. Requests with the same key that come in while it is being looked up share the next look: one
 * query at a time for each key, however many requests there are, and each request's begins after the request.
 */
export class KnownKeys {
  readonly #pool: Pool
  readonly #running = new Map<string, Answer>()
  readonly #next = new Map<string, Answer>()
  /** Keys that were right when they were looked up last. */
  readonly #right = new Set<string>()
  /** Keys that nobody has, and until when that is believed. */
  readonly #unknown = new Map<string, number>()
  readonly #strangers = new FairSemaphore({ permits: strangersAtOnce })

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** The key with this sha256, unless it is revoked or has expired. */
  find(digest: Buffer): Answer {
    const name = digest.toString('base64')
    if ((this.#unknown.get(name) ?? 0) > performance.now()) return Promise.resolve(undefined)
    const running = this.#running.get(name)
    if (!running) return this.#look(name, digest)
    const next = this.#next.get(name) ?? this.#lookAfter(running, name, digest)
    this.#next.set(name, next)
    return next
  }

  async #lookAfter(running: Answer, name: string, digest: Buffer): Answer {
    await running.catch(() => {})
    this.#next.delete(name)
    // Somebody who came later may have begun it already.
    return this.#running.get(name) ?? this.#look(name, digest)
  }

  #look(name: string, digest: Buffer): Answer {
    const answer = this.#ask(name, digest).finally(() => this.#running.delete(name))
    this.#running.set(name, answer)
    return answer
  }

  async #ask(name: string, digest: Buffer): Answer {
    const ask = () => findKey(this.#pool, digest)
    const known = await (this.#right.has(name) ? ask() : this.#strangers.run({ key: 'all' }, ask))
    if (known) this.#noteRight(name)
    else this.#noteUnknown(name)
    return known
  }

  #noteRight(name: string): void {
    this.#unknown.delete(name)
    if (this.#right.has(name)) return
    if (this.#right.size >= mostKept) this.#right.clear()
    this.#right.add(name)
  }

  /** The oldest go first: what was put in again is not the oldest any more. */
  #noteUnknown(name: string): void {
    this.#right.delete(name)
    this.#unknown.delete(name)
    this.#unknown.set(name, performance.now() + unknownMs)
    const [oldest] = this.#unknown.keys()
    if (this.#unknown.size > mostKept && oldest !== undefined) this.#unknown.delete(oldest)
  }
}
