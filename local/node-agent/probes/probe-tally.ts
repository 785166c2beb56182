import type { Probe } from '../objects.ts'

export type Verdict = 'unknown' | 'success' | 'failure'

/** Counts the results of one probe in a row and derives the verdict. */
export class ProbeTally {
  readonly #probe: Probe
  #inRow = 0
  #last: boolean | undefined
  verdict: Verdict = 'unknown'

  constructor(probe: Probe) {
    this.#probe = probe
  }

  /** Adds a result. Enough equal results in a row (the threshold) change the verdict. */
  add(success: boolean): void {
    this.#inRow = success === this.#last ? this.#inRow + 1 : 1
    this.#last = success
    const threshold = success ? (this.#probe.successThreshold ?? 1) : (this.#probe.failureThreshold ?? 3)
    if (this.#inRow >= threshold) this.verdict = success ? 'success' : 'failure'
  }
}
