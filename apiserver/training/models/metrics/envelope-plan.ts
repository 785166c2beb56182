import type { BucketRange } from '../../../../db/model-metrics/read-buckets.ts'

/** Gradient steps from an index up to, and without, another one. */
export interface IndexRange {
  from: number
  to: number
}

/** How to read a range: in buckets of a stored width, of which successive ones become one bucket of the answer. */
export interface EnvelopePlan {
  /** The stored width; 1 for the gradient steps themselves. */
  stored: number
  /** The width of the buckets of the answer: a multiple of the stored one. */
  width: number
}

/** The widths of stored buckets, from narrow to wide. */
const storedWidths = [1, 16, 256, 4_096] as const
// A chart has fewer pixels, and Postgres reads as many rows within milliseconds.
const maxRows = 4_000
// The values of a request are in memory at once. A thousand points of as many metrics as a request may have fit.
const maxValues = 60_000

/**
 * Plans to read a range in at most `points` buckets. The narrowest stored buckets are read that are not too many, so
 * that the answer is as fine as it can be. Widths depend on the length only, and buckets are aligned: a chart that moves
 * keeps them.
 */
export function planEnvelope(
  { from, to }: IndexRange,
  { points, keys }: { points: number; keys: number },
): EnvelopePlan {
  const length = to - from
  const rows = Math.min(maxRows, Math.floor(maxValues / keys))
  const stored = storedWidths.find((width) => length / width <= rows) ?? storedWidths.at(-1)!
  let multiple = Math.max(1, Math.ceil(length / (stored * points)))
  while (countBuckets({ from, to }, stored * multiple) > points) multiple++
  return { stored, width: stored * multiple }
}

function countBuckets({ from, to }: IndexRange, width: number): number {
  return to <= from ? 0 : Math.floor((to - 1) / width) - Math.floor(from / width) + 1
}

/**
 * Divides a range into stored buckets that lie in it whole. At both ends, where none of the planned width fits, narrower
 * ones are read. The result is in order and has no gaps.
 */
export function coverRange({ from, to }: IndexRange, stored: number): BucketRange[] {
  const widths = storedWidths.filter((width) => width <= stored).toReversed()
  const ranges: BucketRange[] = []
  for (let at = from; at < to;) {
    const width = widths.find((each) => at % each === 0 && at + each <= to)!
    const last = ranges.at(-1)
    const bucket = at / width
    if (last?.width === width) last.to = bucket + 1
    else ranges.push({ width, from: bucket, to: bucket + 1 })
    at += width
  }
  return ranges
}
