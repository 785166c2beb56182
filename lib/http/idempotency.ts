import { HttpError, unprocessable } from './http-error.ts'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { httpErrors } from './errors.ts'
import type { HttpContext } from './context.ts'
import type { RequestIds } from './request-ids.ts'

// Longer than the lock of a process that died, so that one repetition is enough to go on in its place.
const waitMs = 30_000
const maxPauseMs = 500
// Three of them fit into the time of a lock.
const extendEveryMs = 3_000

const header = 'Idempotency-Key'

/** A request that is to be answered once. */
export interface KeyedRequest {
  /** Whose key it is: others may use the same one. */
  owner: string
  key: string
  /** method and path */
  route: string
  /** sha256 of its body */
  digest: Buffer
}

/** The right to work on a request, for a while; `seed` stays the same when it passes to somebody else. */
export interface RequestClaim {
  owner: string
  key: string
  holder: string
  seed: string
}

/** Where requests and their answers are kept. */
export interface IdempotencyStore {
  /**
   * Takes a request for the holder: one that is new, or that somebody left unanswered. Undefined when it is answered,
   * somebody works on it, or its key was used for another request.
   */
  claim: (request: KeyedRequest, holder: string) => Promise<RequestClaim | undefined>
  /** The request that a key was used for, and its answer (JSON) if there is one. */
  find: (
    request: Pick<KeyedRequest, 'owner' | 'key'>,
  ) => Promise<(KeyedRequest & { answer: string | null }) | undefined>
  /** Keeps others out for longer. */
  extend: (claim: RequestClaim) => Promise<void>
  /** Keeps an answer (JSON), and gives the one that counts: of several it is the first. */
  answer: (claim: RequestClaim, answer: string) => Promise<string>
  /** Lets others work on it at once, with the same seed. */
  unlock: (claim: RequestClaim) => Promise<void>
  /** Frees a key whose request made nothing. */
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
 * The key under which a client may repeat a request; undefined when it sent none.
 *
 * @throws {HttpError} 422 when it is empty, longer than 255 characters, or not of printable ASCII
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
  // What this process works on or waits for, by owner and key: however many repetitions come in, one of them asks the
  // store, and none holds a connection while it waits.
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
   * Does `work` and gives its answer (JSON). Under one Idempotency-Key of an owner it is done once: whoever asks again
   * within 24 hours gets the first answer. Ids of what is made must come from the request's `newId`, inside of `work`, and
   * a row that is there already must count as made: so a request that was broken off is repeated without harm.
   *
   * An error of the request (4xx) is not kept, for it made nothing: the key is free for a corrected request.
   *
   * @param bodyDigest sha256 of the body's bytes
   * @throws {HttpError} 409 when the key was used for another request, or when the first one takes too long
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

  /** Waits for the same request where this process has it under way, else runs it. */
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

  /** The request's stored answer, or its work; waits while another process is at it. */
  async #answerFirst(request: KeyedRequest, work: (seed: string) => Promise<unknown>): Promise<Outcome> {
    const deadlineMs = performance.now() + waitMs
    for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const claim = await this.#store.claim(request, randomUUID())
      if (claim) return { answer: await this.#workOn(claim, work), replayed: false }
      const known = await this.#store.find(request)
      if (known) requireSame(known, request)
      if (typeof known?.answer === 'string') return { answer: JSON.parse(known.answer), replayed: true }
      if (performance.now() > deadlineMs) throw stillUnderWay()
      await delay(pauseMs)
    }
  }

  async #workOn(claim: RequestClaim, work: (seed: string) => Promise<unknown>): Promise<unknown> {
    const warn = (message: string) => (error: unknown) => this.#log.warn({ error }, message)
    // Another process may take over a claim that is not extended, which makes nothing twice: the seed is the same.
    const extending = setInterval(() => void this.#store.extend(claim).catch(warn('lock lost')), extendEveryMs)
    try {
      return JSON.parse(await this.#store.answer(claim, JSON.stringify(await work(claim.seed))))
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

// Not a 503: nothing is away. Clients that repeat by themselves take a 409 as a lock that is held.
function stillUnderWay(): HttpError {
  return new HttpError(httpErrors.request_in_progress, undefined, { retryAfterSeconds: 5 })
}
