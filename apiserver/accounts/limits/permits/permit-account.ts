import type { PermitAnswer, PermitRequest } from './messages.ts'

type Ask = Extract<PermitRequest, { type: 'ask' }>
type Return = Extract<PermitRequest, { type: 'return' }>
/** A message to a process, without the name and the entity. */
type Told = { [Type in PermitAnswer['type']]: Omit<Extract<PermitAnswer, { type: Type }>, 'name' | 'entity'> }
export type AccountAnswer = Told[keyof Told]

interface WaitingAsk {
  process: number
  wanted: number
}

/** A round asks all processes that have permits to return the unused ones. */
interface Round {
  number: number
  /** The requests that are rejected if the round finds no permits for them. */
  asks: ReadonlySet<WaitingAsk>
  /** The processes that have not answered yet. */
  missing: Set<number>
  deadline: NodeJS.Timeout
}

// If a process does not answer in this time, all its permits count as used.
const roundMs = 1_000
// The pause after a rejection. A flood beyond a limit causes at most one round in this time, for any number of
// requests.
const pauseMs = 20

let lastRound = 0

/**
 * The permits of one entity, and how many of them each process has. Only a process itself knows which permits it uses.
 * So a request beyond the limit is rejected only after all processes have answered that they have no unused permits.
 */
export class PermitAccount {
  readonly #tell: (process: number, answer: AccountAnswer) => void
  #limit = 0
  #taken = 0
  /** By process. A process without permits has no entry. */
  readonly #granted = new Map<number, number>()
  #asks: WaitingAsk[] = []
  #round: Round | undefined
  #pausedUntilMs = 0
  #pause: NodeJS.Timeout | undefined

  constructor(tell: (process: number, answer: AccountAnswer) => void) {
    this.#tell = tell
  }

  /** Whether no process has permits or asks for any. */
  get isEmpty(): boolean {
    return this.#taken === 0 && this.#asks.length === 0
  }

  ask(process: number, { limit, wanted, returned }: Ask): void {
    this.#takeBack(process, returned)
    if (limit !== this.#limit) this.#changeLimit(limit)
    this.#asks.push({ process, wanted })
    this.#settle()
  }

  takeReturned(process: number, { returned, round }: Return): void {
    this.#takeBack(process, returned)
    if (round === this.#round?.number) this.#round?.missing.delete(process)
    this.#settle()
  }

  /** Releases the permits of a process that has ended. */
  removeProcess(process: number): void {
    this.#takeBack(process, this.#granted.get(process) ?? 0)
    this.#asks = this.#asks.filter((ask) => ask.process !== process)
    this.#round?.missing.delete(process)
    this.#settle()
  }

  /** Stops all timers. */
  close(): void {
    clearTimeout(this.#round?.deadline)
    clearTimeout(this.#pause)
  }

  #takeBack(process: number, returned: number): void {
    const rest = (this.#granted.get(process) ?? 0) - returned
    this.#taken -= returned
    if (rest > 0) this.#granted.set(process, rest)
    else this.#granted.delete(process)
  }

  /** Recalls unused permits, because processes may reuse them only at the previous limit. */
  #changeLimit(limit: number): void {
    this.#limit = limit
    for (const process of this.#granted.keys()) this.#recall(process, 0)
  }

  #settle(): void {
    this.#grant()
    if (this.#round?.missing.size === 0) this.#endRound()
    if (this.#asks.length > 0 && !this.#round) this.#beginRound()
  }

  #grant(): void {
    for (const ask of this.#asks) {
      const granted = Math.min(ask.wanted, this.#limit - this.#taken)
      if (granted <= 0) break
      ask.wanted -= granted
      this.#taken += granted
      this.#granted.set(ask.process, (this.#granted.get(ask.process) ?? 0) + granted)
      this.#answer(ask.process, { granted, rejected: 0 })
    }
    this.#asks = this.#asks.filter(({ wanted }) => wanted > 0)
  }

  #beginRound(): void {
    const waitMs = this.#pausedUntilMs - performance.now()
    if (waitMs > 0) {
      this.#pause ??= setTimeout(() => this.#endPause(), waitMs)
      return
    }
    const missing = new Set(this.#granted.keys())
    const deadline = setTimeout(() => this.#giveUp(), roundMs)
    this.#round = { number: ++lastRound, asks: new Set(this.#asks), missing, deadline }
    for (const process of missing) this.#recall(process, lastRound)
    if (missing.size === 0) this.#endRound()
  }

  #endPause(): void {
    this.#pause = undefined
    this.#settle()
  }

  #giveUp(): void {
    this.#round?.missing.clear()
    this.#settle()
  }

  /** Rejects requests that came before the round and got no permits from it. */
  #endRound(): void {
    const { asks, deadline } = this.#round!
    clearTimeout(deadline)
    this.#round = undefined
    const rejected = this.#asks.filter((ask) => asks.has(ask))
    if (rejected.length === 0) return
    this.#asks = this.#asks.filter((ask) => !asks.has(ask))
    this.#pausedUntilMs = performance.now() + pauseMs
    for (const { process, wanted } of rejected) this.#answer(process, { granted: 0, rejected: wanted })
  }

  #answer(process: number, counts: { granted: number; rejected: number }): void {
    this.#tell(process, { type: 'answer', reusableAt: this.#reusableAt, taken: this.#taken, ...counts })
  }

  #recall(process: number, round: number): void {
    this.#tell(process, { type: 'recall', reusableAt: this.#reusableAt, round })
  }

  /**
   * After a limit was lowered, more permits may be taken than it allows. Each permit that is released then reduces
   * their number.
   */
  get #reusableAt(): number | null {
    return this.#taken <= this.#limit ? this.#limit : null
  }
}
