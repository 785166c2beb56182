import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RetainedCheckpoint, Retention } from '../../db/retention/checkpoints.ts'
import { chooseCases } from '../../test/support/random-cases.ts'
import { planRetention } from './plan.ts'

const rules: fc.Arbitrary<Retention> = fc.record(
  {
    keep_last: fc.integer({ min: 1, max: 4 }),
    keep_best: fc.record({
      metric: fc.constant('reward'),
      mode: fc.constantFrom<'max' | 'min'>('max', 'min'),
      count: fc.integer({ min: 1, max: 3 }),
    }),
    ttl_seconds: fc.integer({ min: 1, max: 100 }),
  },
  { requiredKeys: [] },
)

const checkpoints = fc.uniqueArray(
  fc.record<RetainedCheckpoint>({
    step: fc.integer({ min: 1, max: 20 }),
    ageSeconds: fc.nat({ max: 200 }),
    metrics: fc.oneof(
      fc.constant({}),
      fc.integer({ min: -3, max: 3 }).map((reward) => ({ reward })),
    ),
  }),
  { selector: ({ step }) => step, maxLength: 10 },
)

test('the newest step is kept, and what is removed once is all: a second plan removes nothing', () => {
  fc.assert(
    fc.property(rules, checkpoints, (retention, all) => {
      const removed = planRetention(retention, all)
      const kept = all.filter(({ step }) => !removed.includes(step))
      if (all.length > 0) expect(removed).not.toContain(Math.max(...all.map(({ step }) => step)))
      expect(planRetention(retention, kept)).toEqual([])
    }),
    chooseCases(1_000),
  )
})

test('a crash after any removal is safe: the next plan removes exactly the rest', () => {
  fc.assert(
    fc.property(rules, checkpoints, fc.nat(), (retention, all, at) => {
      const removed = planRetention(retention, all)
      const done = removed.slice(0, at % (removed.length + 1))
      const left = all.filter(({ step }) => !done.includes(step))
      expect(planRetention(retention, left)).toEqual(removed.slice(done.length))
    }),
    chooseCases(1_000),
  )
})
