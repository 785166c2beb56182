import { parseText } from '../json/parse-text.ts'
import { HttpError, unprocessable } from './http-error.ts'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { httpErrors } from './errors.ts'
import type { HttpContext } from './context.ts'
import type { RequestIds } from './request-ids.ts'

// Longer than the lock of a dead process, so that one repetition is enough to take over its request.
const waitMs = 30_000
const maxPauseMs = 500
// A third of a lock's time.
const extendEveryMs = 3_000

const header = 'Idempotency-Key'

/** A request that must be answered once. */
export interface KeyedRequest {
  /** The owner of the key. Other owners may use the same key. */
  owner: string
  key: string
  /** The method and path. */
  route: string
  /** The SHA-256 of its body. */
  digest: Buffer
}

/** The right to work on a request for a while. `seed` stays the same if another holder takes over. */
export interface RequestClaim {
  owner: string
  key: string
  holder: string
  seed: string
}

/** Stores requests and their answers. */
export interface IdempotencyStore {
  /**
   * Claims a request for the holder, if it is new or its holder left it unanswered. Undefined if it is answered,
   * somebody works on it, or its key was used for another request.
   */
  claim: (request: KeyedRequest, holder: string) => Promise<RequestClaim | undefined>
  /** The request that used a key, with its answer (JSON) if there is one. */
  find: (
    request: Pick<KeyedRequest, 'owner' | 'key'>,
  ) => Promise<(KeyedRequest & { answer: string | null }) | undefined>
  /** Extends the lock. */
  extend: (claim: RequestClaim) => Promise<void>
  /** Stores an answer (JSON) and returns the first of all stored answers: that one counts. */
  answer: (claim: RequestClaim, answer: string) => Promise<string>
  /** Lets others claim it at once, with the same seed. */
  unlock: (claim: RequestClaim) => Promise<void>
  /** Frees a key whose request created nothing. */
  forget: (claim: RequestClaim) => Promise<void>
}

interface OnceRequest {
  ctx: HttpContext
  owner: string
  ids: RequestIds
}

interface Outcome {
  answer: unknown
  replayed: boolean
}

/**
 * Reads the key under which a client can repeat a request; undefined if it sent none.
 *
 * @throws {HttpError} 422 if the key is empty, longer than 255 characters, or not printable ASCII
 */
export function readIdempotencyKey(ctx: HttpContext): string | undefined {
  const key = ctx.req.headers[header.toLowerCase()]
  if (key === undefined || (typeof key === 'string' && /^[ -~]{1,255}$/.test(key))) return key
  const msg = "String should match pattern '^[ -~]{1,255}$'"
  throw unprocessable({ loc: ['header', header.toLowerCase()], msg, type: 'string_pattern_mismatch' })
}

/** Answers requests once per Idempotency-Key. */
export class Idempotency {
  readonly #store: IdempotencyStore
  readonly #log: Logger
  // Requests that this process works on or waits for, by owner and key. Repetitions share one query of the store, and
  // none holds a connection while it waits.
  readonly #underWay = new Map<string, { request: KeyedRequest; outcome: Promise<Outcome> }>()

  constructor(store: IdempotencyStore, log: Logger) {
    this.#store = store
    this.#log = log
  }

  /** Whether the request was answered before. */
  async isAnswered(ctx: HttpContext, owner: string): Promise<boolean> {
    const key = readIdempotencyKey(ctx)
    const known = key === undefined ? undefined : await this.#store.find({ owner, key })
    return typeof known?.answer === 'string'
  }

  /**
   * Runs `work` and returns its answer (JSON). For each owner and Idempotency-Key it runs once: a repetition within 24
   * hours gets the first answer. `work` must take new ids from the request's `newId`, and must treat an existing row as
   * created. Then an interrupted request can be repeated safely.
   *
   * Client errors (4xx) are not stored, because they created nothing. The key stays free for a corrected request.
   *
   * @param bodyDigest the SHA-256 of the body's bytes
   * @throws {HttpError} 409 if the key was used for another request, or if the first request takes too long
   */
  async answerOnce<T>({ ctx, owner, ids }: OnceRequest, bodyDigest: Buffer, work: () => Promise<T>): Promise<T> {
    const key = readIdempotencyKey(ctx)
    if (key === undefined) return work()
    const keyed = { owner, key, route: `${ctx.method} ${ctx.url}`, digest: bodyDigest }
    const first = () => this.#answerFirst(keyed, (seed) => (ids.follow(seed), work()))
    const { answer, replayed } = await this.#joinOthers(keyed, first)
    if (replayed) ctx.set('Idempotent-Replayed', 'true')
    return answer as T
  }

  /** Waits for the same request if this process is working on it, else runs it. */
  async #joinOthers(request: KeyedRequest, run: () => Promise<Outcome>): Promise<Outcome> {
    const name = `${request.owner} ${request.key}`
    const known = this.#underWay.get(name)
    if (known) {
      requireSame(known.request, request)
      return { answer: (await waitFor(known.outcome)).answer, replayed: true }
    }
    const outcome = run()
    this.#underWay.set(name, { request, outcome })
    try {
      return await outcome
    } finally {
      this.#underWay.delete(name)
    }
  }

  /** Returns the request's stored answer, or runs its work. Waits while another process works on it. */
  async #answerFirst(request: KeyedRequest, work: (seed: string) => Promise<unknown>): Promise<Outcome> {
    const deadlineMs = performance.now() + waitMs
    for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const claim = await this.#store.claim(request, randomUUID())
      if (claim) return { answer: await this.#workOn(claim, work), replayed: false }
      const known = await this.#store.find(request)
      if (known) requireSame(known, request)
      if (typeof known?.answer === 'string') return { answer: parseText(known.answer), replayed: true }
      if (performance.now() > deadlineMs) throw stillUnderWay()
      await delay(pauseMs)
    }
  }

  async #workOn(claim: RequestClaim, work: (seed: string) => Promise<unknown>): Promise<unknown> {
    const warn = (message: string) => (error: unknown) => this.#log.warn({ error }, message)
    // Another process may take over a claim that is not extended. It creates nothing twice, because the seed is the
    // same.
    const extending = setInterval(() => void this.#store.extend(claim).catch(warn('lock lost')), extendEveryMs)
    try {
      return parseText(await this.#store.answer(claim, JSON.stringify(await work(claim.seed))))
    } catch (error) {
      await (isClientError(error) ? this.#store.forget(claim) : this.#store.unlock(claim)).catch(
        warn('idempotency key not freed'),
      )
      throw error
    } finally {
      clearInterval(extending)
    }
  }
}

async function waitFor(outcome: Promise<Outcome>): Promise<Outcome> {
  const stop = new AbortController()
  const late = delay(waitMs, undefined, { signal: stop.signal }).then(() => Promise.reject(stillUnderWay()))
  try {
    return await Promise.race([outcome, late])
  } finally {
    late.catch(() => {})
    stop.abort()
  }
}

/** Whether the request was rejected, so that nothing was created. Other failures may have created something. */
function isClientError(error: unknown): boolean {
  return error instanceof HttpError && error.status < 500
}

function requireSame(known: KeyedRequest, request: KeyedRequest): void {
  if (known.route === request.route && known.digest.equals(request.digest)) return
  throw new HttpError(httpErrors.idempotency_key_reused)
}

// Not a 503, because nothing is unavailable. Clients that retry by themselves treat a 409 as a held lock.
function stillUnderWay(): HttpError {
  return new HttpError(httpErrors.request_in_progress, undefined, { retryAfterSeconds: 5 })
}
