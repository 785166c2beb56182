import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MetricBucket, MetricValues } from '../../../../db/model-metrics/read-buckets.ts'
import { buildEnvelope } from './envelope.ts'
import { coverRange, planEnvelope } from './envelope-plan.ts'

/** The stored bucket of some values, as fill_metric_buckets writes it. */
function store(values: readonly number[], width: number, bucket: number): MetricBucket {
  const own = values.slice(bucket * width, (bucket + 1) * width)
  const index = bucket * width
  const metrics: Record<string, MetricValues> = {
    loss: [Math.min(...own), Math.max(...own), own.reduce((sum, each) => sum + each, 0), own.at(-1)!, own.length],
  }
  const [firstAt, lastAt] = [new Date(index), new Date(index + own.length - 1)]
  return { index, firstStep: index, lastStep: index + own.length - 1, firstAt, lastAt, metrics }
}

const series = fc
  .tuple(fc.integer({ min: 1, max: 30_000 }), fc.integer(), fc.integer({ min: 2, max: 1_000 }))
  .chain(([length, seed, points]) =>
    fc.tuple(fc.integer({ min: 0, max: length - 1 }), fc.integer({ min: 1, max: length })).map(([from, size]) => ({
      values: Array.from({ length }, (_, index) => Math.sin(seed + index * 7.3) * ((index * 31 + seed) % 97)),
      from,
      to: Math.min(length, from + size),
      points,
    })),
  )

test('an envelope has the least, the greatest and the last value, all of them once, in few rows and few points', () => {
  fc.assert(
    fc.property(series, ({ values, from, to, points }) => {
      const { stored, width } = planEnvelope({ from, to }, { points, keys: 1 })
      const ranges = coverRange({ from, to }, stored)
      const buckets = ranges.flatMap((range) =>
        Array.from({ length: range.to - range.from }, (_, index) => store(values, range.width, range.from + index)),
      )
      const envelope = buildEnvelope(buckets, { key: 'loss', x: 'index', width })
      const own = values.slice(from, to)
      expect(Math.min(...envelope.min)).toBe(Math.min(...own))
      expect(Math.max(...envelope.max)).toBe(Math.max(...own))
      expect(envelope.last.at(-1)).toBe(own.at(-1))
      expect(envelope.count.reduce((sum, each) => sum + each, 0)).toBe(own.length)
      expect(envelope.first).toEqual(envelope.first.toSorted((a, b) => a - b))
      expect(envelope.first.length).toBeLessThanOrEqual(points)
      // Beside the buckets of the planned width, each end has fewer than 16 of each narrower one.
      expect(buckets.length).toBeLessThanOrEqual(4_000 + 2 * 3 * 15)
      if (own.length <= points) expect(envelope).toMatchObject({ exact: true, mean: own })
      for (const [index, mean] of envelope.mean.entries()) {
        expect(mean).toBeGreaterThanOrEqual(envelope.min[index]!)
        expect(mean).toBeLessThanOrEqual(envelope.max[index]!)
      }
    }),
    { numRuns: 50 },
  )
})

test('a million points are read in less than 4,100 rows', () => {
  const range = { from: 3, to: 1_000_003 }
  const { stored, width } = planEnvelope(range, { points: 1_000, keys: 8 })
  expect({ stored, width }).toEqual({ stored: 256, width: 1_024 })
  const rows = coverRange(range, stored).reduce((sum, { from, to }) => sum + to - from, 0)
  expect(rows).toBeLessThan(4_100)
})

test('a metric that some gradient steps lack has the points of the others', () => {
  const buckets = [0, 1, 2].map((index) => store([5, 6, 7], 1, index))
  delete buckets[1]!.metrics['loss']
  expect(buildEnvelope(buckets, { key: 'loss', x: 'time', width: 1 })).toEqual({
    x: 'time',
    exact: true,
    width: 1,
    first: [0, 2],
    last_x: [0, 2],
    min: [5, 7],
    max: [5, 7],
    mean: [5, 7],
    last: [5, 7],
    count: [1, 1],
  })
})

test('a metric that no bucket has is empty, even if every object has its name', () => {
  for (const key of ['constructor', '__proto__', 'toString'])
    expect(buildEnvelope([store([1], 1, 0)], { key, x: 'index', width: 1 }).first).toEqual([])
})
