/** The upper bounds of the buckets of durations. A stream of events may take minutes. */
export const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/** Durations by buckets. To record one takes less than a microsecond, because nothing is looked up. */
export class Durations {
  /** How many durations are in each bucket, and in none. */
  readonly #counts = new Float64Array(durationBuckets.length + 1)
  #sum = 0

  record(seconds: number): void {
    this.#sum += seconds
    let index = 0
    while (index < durationBuckets.length && seconds > durationBuckets[index]!) index++
    this.#counts[index]! += 1
  }

  /** How many durations were recorded. */
  get count(): number {
    return this.#counts.reduce((sum, own) => sum + own, 0)
  }

  /** The sum of all durations in seconds. */
  get sum(): number {
    return this.#sum
  }

  /** How many durations are at most as long as each bucket's bound. The last one counts all. */
  get cumulativeCounts(): number[] {
    let count = 0
    return [...this.#counts].map((own) => (count += own))
  }
}
