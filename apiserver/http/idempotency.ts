import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../../db/pool.ts'
import {
  answerRequest,
  claimRequest,
  extendRequestClaim,
  findKeyedRequest,
  forgetRequest,
  unlockRequest,
  type KeyedRequest,
  type RequestClaim,
} from '../../db/idempotent-requests.ts'
import type { Logger } from '../../lib/log.ts'
import type { Caller, RequestContext } from '../middleware/context.ts'
import { Refusal, unprocessable } from '../refusal.ts'
import type { RequestIds } from './request-ids.ts'

// Longer than the lock of a process that died, so that one repetition is enough to go on in its place.
const waitMs = 30_000
const maxPauseMs = 500
// Three of them fit into the time of a lock.
const extendEveryMs = 3_000

const header = 'Idempotency-Key'

interface OnceDeps {
  pool: Pool
  log: Logger
}

interface OnceRequest {
  ctx: RequestContext
  caller: Caller
  ids: RequestIds
}

interface Outcome {
  answer: unknown
  replayed: boolean
}

// What this process works on or waits for, by entity and key: however many repetitions come in, one of them asks the
// database, and none holds a connection while it waits.
const underWay = new Map<string, { request: KeyedRequest; outcome: Promise<Outcome> }>()

/**
 * The key under which a client may repeat a request; undefined when it sent none.
 *
 * @throws {Refusal} 422 when it is empty, longer than 255 characters, or not of printable ASCII
 */
export function readIdempotencyKey(ctx: RequestContext): string | undefined {
  const key = ctx.req.headers[header.toLowerCase()]
  if (key === undefined || (typeof key === 'string' && /^[ -~]{1,255}$/.test(key))) return key
  const msg = "String should match pattern '^[ -~]{1,255}$'"
  throw unprocessable({ loc: ['header', header.toLowerCase()], msg, type: 'string_pattern_mismatch' })
}

/**
 * Does `work` and gives its answer (JSON). Under one Idempotency-Key of an entity it is done once: whoever asks again
 * within 24 hours gets the first answer. Ids of what is made must come from the request's `newId`, inside of `work`, and
 * a row that is there already must count as made: so a request that was broken off is repeated without harm.
 *
 * A refusal (4xx) is not kept, for it made nothing: the key is free for a corrected request.
 *
 * @param bodyDigest sha256 of the body's bytes
 * @throws {Refusal} 409 when the key was used for another request, or when the first one takes too long
 */
export async function answerOnce<T>(
  deps: OnceDeps,
  request: OnceRequest,
  bodyDigest: Buffer,
  work: () => Promise<T>,
): Promise<T> {
  const key = readIdempotencyKey(request.ctx)
  if (key === undefined) return work()
  const { ctx, caller, ids } = request
  const keyed = { entity: caller.entity, key, route: `${ctx.method} ${ctx.url}`, digest: bodyDigest }
  const first = () => answerFirst(deps, keyed, (seed) => (ids.follow(seed), work()))
  const { answer, replayed } = await joinOthers(keyed, first)
  if (replayed) ctx.set('Idempotent-Replayed', 'true')
  return answer as T
}

/** Waits for the same request where this process has it under way, else runs it. */
async function joinOthers(request: KeyedRequest, run: () => Promise<Outcome>): Promise<Outcome> {
  const name = `${request.entity} ${request.key}`
  const known = underWay.get(name)
  if (known) {
    requireSame(known.request, request)
    return { answer: (await waitFor(known.outcome)).answer, replayed: true }
  }
  const outcome = run()
  underWay.set(name, { request, outcome })
  try {
    return await outcome
  } finally {
    underWay.delete(name)
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

/** The request's stored answer, or its work; waits while another process is at it. */
async function answerFirst(
  deps: OnceDeps,
  request: KeyedRequest,
  work: (seed: string) => Promise<unknown>,
): Promise<Outcome> {
  const deadlineMs = performance.now() + waitMs
  for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const claim = await claimRequest(deps.pool, request, randomUUID())
    if (claim) return { answer: await workOn(deps, claim, work), replayed: false }
    const known = await findKeyedRequest(deps.pool, request)
    if (known) requireSame(known, request)
    if (typeof known?.answer === 'string') return { answer: JSON.parse(known.answer), replayed: true }
    if (performance.now() > deadlineMs) throw stillUnderWay()
    await delay(pauseMs)
  }
}

async function workOn(
  { pool, log }: OnceDeps,
  claim: RequestClaim,
  work: (seed: string) => Promise<unknown>,
): Promise<unknown> {
  // Who fails to extend may be overtaken, which makes nothing twice: the seed is the same.
  const extend = () => void extendRequestClaim(pool, claim).catch((error: unknown) => log.warn({ error }, 'lock lost'))
  const extending = setInterval(extend, extendEveryMs)
  try {
    return JSON.parse(await answerRequest(pool, claim, JSON.stringify(await work(claim.seed))))
  } catch (error) {
    const free = isRefused(error) ? forgetRequest : unlockRequest
    await free(pool, claim).catch((cause: unknown) => log.warn({ error: cause }, 'idempotency key not freed'))
    throw error
  } finally {
    clearInterval(extending)
  }
}

/** Whether nothing was made; what failed otherwise may have made something. */
function isRefused(error: unknown): boolean {
  return error instanceof Refusal && error.status < 500
}

function requireSame(known: KeyedRequest, request: KeyedRequest): void {
  if (known.route === request.route && known.digest.equals(request.digest)) return
  throw new Refusal(409, `This ${header} was used for another request; send a new one.`)
}

// Not a 503: nothing is away. Clients that repeat by themselves take a 409 as a lock that is held.
function stillUnderWay(): Refusal {
  const detail = `A request with this ${header} is still under way; ask again for its answer.`
  return new Refusal(409, detail, { 'Retry-After': '5' })
}
