import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { registerDurations } from './computed.ts'
import { durationBuckets, Durations } from './durations.ts'

test('a duration counts in each bucket whose bound is not below it', () => {
  const durations = new Durations()
  for (const seconds of [0.005, 0.006, 1000]) durations.record(seconds)
  expect(durations.cumulativeCounts.slice(0, 3)).toEqual([1, 2, 2])
  expect(durations.cumulativeCounts.slice(-2)).toEqual([2, 3])
  expect(durations.count).toBe(3)
  expect(durations.sum).toBeCloseTo(1000.011)
})

test('a histogram of them is written as prom-client writes its own', async () => {
  const registry = new Registry()
  const durations = new Durations()
  durations.record(0.02)
  const definition = { name: 'wait_seconds', help: 'A wait.', labelNames: ['queue'] }
  registerDurations(registry, definition, () => [{ labels: { queue: 'a' }, durations }])
  const text = await registry.metrics()
  expect(text).toContain('# TYPE wait_seconds histogram')
  expect(text).toContain('wait_seconds_bucket{le="0.01",queue="a"} 0')
  expect(text).toContain('wait_seconds_bucket{le="0.025",queue="a"} 1')
  expect(text).toContain('wait_seconds_bucket{le="+Inf",queue="a"} 1')
  expect(text).toContain('wait_seconds_sum{queue="a"} 0.02')
  expect(text).toContain('wait_seconds_count{queue="a"} 1')
  const [json] = await registry.getMetricsAsJSON()
  expect(json?.values).toHaveLength(durationBuckets.length + 3)
  expect(json?.values[0]?.labels).toEqual({ le: 0.005, queue: 'a' })
})
