/** What a request does: it waits because no pod was usable when it arrived, or because all were full, or it is sent. */
export type RequestPhase = 'held' | 'busy' | 'inFlight'

/** The requests for a base model, and the most at once since the last look. */
export class RequestCount {
  readonly #counts = { held: 0, busy: 0, inFlight: 0 }
  #peak = 0

  get counts(): Readonly<Record<RequestPhase, number>> {
    return this.#counts
  }

  /** Whether there is no request now, and was none since the last look. */
  get isZero(): boolean {
    return this.#sum() === 0 && this.#peak === 0
  }

  /** Whether a request waits. */
  get isAwaited(): boolean {
    return this.#counts.held + this.#counts.busy > 0
  }

  add(phase: RequestPhase): void {
    this.#counts[phase]++
    this.#peak = Math.max(this.#peak, this.#sum())
  }

  remove(phase: RequestPhase): void {
    this.#counts[phase]--
  }

  takePeak(): number {
    const peak = this.#peak
    this.#peak = this.#sum()
    return peak
  }

  #sum(): number {
    const { held, busy, inFlight } = this.#counts
    return held + busy + inFlight
  }
}
