/** A part of the time of a histogram. */
export interface Bucket {
  calls: number
  errors: number
}

export interface Histogram {
  /** The time of its left and its right edge. */
  from: string
  to: string
  buckets: readonly Bucket[]
}

/** The bars of a histogram in a box of this size: all calls, and of them those that failed. */
export function drawBars({ buckets }: Histogram, width: number, height: number) {
  const most = Math.max(1, ...buckets.map(({ calls }) => calls))
  const across = width / buckets.length
  // What is there stays visible.
  const tall = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * height))
  return buckets.map(({ calls, errors }, index) => ({
    x: index * across,
    width: Math.max(1, across - 1),
    calls: tall(calls),
    errors: tall(errors),
  }))
}

/** The time of a fraction between the left edge (0) and the right one (1). */
export function timeAt({ from, to }: Pick<Histogram, 'from' | 'to'>, fraction: number): string {
  const [begin, end] = [Date.parse(from), Date.parse(to)]
  return new Date(begin + Math.max(0, Math.min(1, fraction)) * (end - begin)).toISOString()
}

/**
 * The range between two fractions of it, on the edges of buckets. The last bucket has the newest call itself, so a range that
 * reaches the right edge has no end.
 */
export function brush(histogram: Histogram, a: number, b: number): { from: string; to: string | undefined } {
  const count = histogram.buckets.length
  const low = Math.max(0, Math.floor(Math.min(a, b) * count)) / count
  const high = Math.min(count, Math.max(Math.ceil(Math.max(a, b) * count), low * count + 1)) / count
  return { from: timeAt(histogram, low), to: high >= 1 ? undefined : timeAt(histogram, high) }
}

/** A sentence for those who do not see the bars. */
export function describeHistogram({ buckets }: Histogram, when: (fraction: number) => string): string {
  const calls = buckets.reduce((sum, bucket) => sum + bucket.calls, 0)
  const errors = buckets.reduce((sum, bucket) => sum + bucket.errors, 0)
  const peak = buckets.reduce((best, bucket, index) => (bucket.calls > buckets[best]!.calls ? index : best), 0)
  return `${calls} calls, ${errors} of them with errors; most of them, ${buckets[peak]?.calls ?? 0}, from ${when(peak / buckets.length)} on.`
}
