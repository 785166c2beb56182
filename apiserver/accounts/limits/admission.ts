import type { IncomingMessage } from 'node:http'
import { FairSemaphore, PermitTimeout, type Turn } from '../../../lib/fair-semaphore.ts'
import { currentTurn } from '../../../lib/request-scope.ts'
import type { RequestContext } from '../context.ts'
import { LimitError } from './limit-error.ts'
import type { RequestMemory } from './request-memory.ts'
import { permitLimits, type PermitLimit, type PermitName } from './table.ts'

/** The cost of an operation, beside its body and its answer. See table.ts. */
export interface CostOption {
  cost?: {
    permit: PermitName
    /** Whether a request needs the permit. By default, all do. */
    when?: (ctx: RequestContext) => boolean
    /** Memory that is reserved until the answer is sent. */
    memoryBytes?: number
  }
}

type Release = () => void
const releaseNothing: Release = () => {}

/** The permits of a process. Operations declare which they need; services acquire those that only some requests need. */
export class Admission {
  readonly #memory: RequestMemory
  readonly #permits: Record<PermitName, FairSemaphore>

  constructor(memory: RequestMemory, { traceConnections }: { traceConnections: number }) {
    this.#memory = memory
    const entries = Object.entries(permitLimits).map(([name, limit]) => [
      name,
      createSemaphore(limit, traceConnections),
    ])
    this.#permits = Object.fromEntries(entries) as Record<PermitName, FairSemaphore>
  }

  /**
   * Waits until a request may have what its operation costs. Call the returned function when its answer has ended.
   *
   * @throws {LimitError} 429 or 503
   */
  readonly admit = async (ctx: RequestContext, { cost }: CostOption): Promise<Release> => {
    if (!cost || cost.when?.(ctx) === false) return releaseNothing
    const { freeBodyBytes = -1, heldFor, ownLimit } = permitLimits[cost.permit]
    if ((ctx.request.length ?? Infinity) <= freeBodyBytes) return releaseNothing
    if (cost.memoryBytes !== undefined) this.#memory.open(ctx).add(cost.memoryBytes)
    const release = await this.acquire(cost.permit, currentTurn(), ownLimit && ctx.state.limits[ownLimit])
    if (heldFor === 'body') releaseAfterBody(ctx.req, release)
    return release
  }

  /**
   * Waits for a permit, for the running request unless a turn is given. Call the returned function to release it.
   *
   * @param ownLimit how many permits the turn's entity may hold, if it has a limit of its own
   * @throws {LimitError} if it is not free in time
   */
  async acquire(name: PermitName, turn: Turn = currentTurn(), ownLimit?: number): Promise<Release> {
    const { waitMs } = permitLimits[name]
    const permits = this.#permits[name]
    const request = { ...turn, ...(ownLimit !== undefined && { maxOfKey: ownLimit }) }
    const free = permits.tryAcquire(request)
    if (free) return free
    if (waitMs === 0) throw reached(name, { key: turn.key, held: permits.heldBy(turn.key), ownLimit })
    try {
      return await permits.acquire({ ...request, ...(waitMs !== Infinity && { timeoutMs: waitMs }) })
    } catch (error) {
      throw error instanceof PermitTimeout ? reached(name, { key: turn.key }) : error
    }
  }

  /** Runs work with a permit. @throws {LimitError} as `acquire` does, and what the work throws */
  async run<T>(name: PermitName, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(name)
    try {
      return await work()
    } finally {
      release()
    }
  }
}

function createSemaphore({ permits: given, share }: PermitLimit, traceConnections: number): FairSemaphore {
  const permits = typeof given === 'number' ? given : Math.floor(traceConnections * given.perTraceConnection)
  return new FairSemaphore({ permits, permitsPerKey: Math.max(1, Math.floor(permits * share)) })
}

function releaseAfterBody(request: IncomingMessage, release: Release): void {
  request.once('end', release).once('close', release)
  if (request.readableEnded || request.destroyed) release()
}

interface Reached {
  key: string
  held?: number
  ownLimit?: number | undefined
}

function reached(name: PermitName, { key, held, ownLimit }: Reached): LimitError {
  const { what } = permitLimits[name]
  const again = 'Send this request again when one has ended'
  if (ownLimit === undefined) return new LimitError(name, `Too many ${what}: the limit ${name} is reached. ${again}.`)
  const detail = `${key} has ${held} ${what}, and its limit ${name} is ${ownLimit}.`
  return new LimitError(name, `${detail} ${again}, or ask for a higher limit.`)
}
