import type { PermitAnswer, PermitRequest } from './messages.ts'
import { PermitsExhausted, type Permits } from './permits.ts'

interface Waiter {
  limit: number
  resolve: (release: () => void) => void
  reject: (error: PermitsExhausted) => void
}

/** The permits of an entity in this process. */
interface Holding {
  inUse: number
  unused: number
  /** The smallest number of unused permits since the last check. This many are not needed. */
  minUnused: number
  /** The limit at which unused permits may be reused. Null for no reuse. */
  reusableAt: number | null
  waiting: Waiter[]
  /** For how many of the waiting requests the supervisor has been asked. */
  asked: number
}

/**
 * Permits that the processes of a replica share. The supervisor owns them (see PermitLedger). A process keeps its
 * released permits, so that successive chats need no messages. For each entity, it has at most one request to the
 * supervisor at a time, for all chats that wait.
 */
export class SharedPermits implements Permits {
  readonly #name: string
  readonly #send: (request: PermitRequest) => void
  /** An entry without permits and waiters is removed at the next check. */
  readonly #holdings = new Map<string, Holding>()

  constructor(name: string, send: (request: PermitRequest) => void) {
    this.#name = name
    this.#send = send
  }

  /** The number of entities with permits in this process. */
  get size(): number {
    return this.#holdings.size
  }

  tryAcquire(entity: string, limit: number): (() => void) | undefined {
    const holding = this.#holdings.get(entity)
    if (!holding || holding.unused === 0 || holding.reusableAt !== toFinite(limit)) return undefined
    return this.#use(holding)
  }

  acquire(entity: string, limit: number): Promise<() => void> {
    const holding = this.#open(entity)
    if (holding.inUse >= limit) return Promise.reject(new PermitsExhausted(holding.inUse))
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    holding.waiting.push({ limit: toFinite(limit), resolve, reject })
    this.#ask(entity, holding)
    return promise
  }

  receive(answer: PermitAnswer): void {
    const { entity } = answer
    const holding = this.#open(entity)
    holding.reusableAt = answer.reusableAt
    if (answer.type === 'recall') this.#return(entity, holding, { count: holding.unused, round: answer.round })
    else this.#settle(entity, holding, answer)
  }

  /** Returns the permits that were not needed since the last call. */
  returnUnused(): void {
    for (const [entity, holding] of this.#holdings) {
      if (holding.minUnused > 0) this.#return(entity, holding, { count: holding.minUnused })
      holding.minUnused = holding.unused
      if (holding.inUse + holding.unused + holding.waiting.length === 0) this.#holdings.delete(entity)
    }
  }

  #open(entity: string): Holding {
    const known = this.#holdings.get(entity)
    if (known) return known
    const holding = { inUse: 0, unused: 0, minUnused: 0, reusableAt: null, waiting: [], asked: 0 }
    this.#holdings.set(entity, holding)
    return holding
  }

  #use(holding: Holding): () => void {
    holding.unused--
    holding.inUse++
    holding.minUnused = Math.min(holding.minUnused, holding.unused)
    let isInUse = true
    return () => {
      if (!isInUse) return
      isInUse = false
      holding.inUse--
      holding.unused++
    }
  }

  #ask(entity: string, holding: Holding): void {
    const { waiting, unused } = holding
    if (holding.asked > 0 || waiting.length === 0) return
    holding.asked = waiting.length
    holding.unused = 0
    holding.minUnused = 0
    const { limit } = waiting.at(-1)!
    this.#send({ type: 'ask', name: this.#name, entity, limit, wanted: waiting.length, returned: unused })
  }

  /** Some permits may have been released here in the meantime, so that fewer requests have to be rejected. */
  #settle(entity: string, holding: Holding, answer: Extract<PermitAnswer, { type: 'answer' }>): void {
    const settled = holding.waiting.splice(0, answer.granted + answer.rejected)
    holding.asked -= settled.length
    holding.unused += answer.granted
    for (const { resolve, reject } of settled) {
      if (holding.unused > 0 && holding.reusableAt !== null) resolve(this.#use(holding))
      else reject(new PermitsExhausted(answer.taken))
    }
    this.#ask(entity, holding)
  }

  #return(entity: string, holding: Holding, { count, round }: { count: number; round?: number }): void {
    holding.unused -= count
    holding.minUnused = Math.min(holding.minUnused, holding.unused)
    this.#send({ type: 'return', name: this.#name, entity, returned: count, ...(round !== undefined && { round }) })
  }
}

/** Messages cannot contain Infinity. */
function toFinite(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER)
}
