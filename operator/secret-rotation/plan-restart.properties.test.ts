import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseCases } from '../../test/support/random-cases.ts'
import { planRestart, type RestartFacts } from './plan-restart.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const digest = fc.constantFrom('a', 'b')
// Kubelets update the files of their pods within about two minutes.
const maxLagSeconds = 120

const facts: fc.Arbitrary<RestartFacts> = fc.record({
  recorded: fc.option(digest, { nil: undefined }),
  restartedAt: fc.option(
    fc.integer({ min: -400, max: 0 }).map((seconds) => new Date(start + seconds * 1000).toISOString()),
    { nil: undefined },
  ),
  digest,
  digestAtStart: digest,
  now: fc.constant(new Date(start)),
})

const execute = (before: RestartFacts, plan: 'record' | 'restart'): RestartFacts => ({
  ...before,
  recorded: before.digest,
  ...(plan === 'restart' && { restartedAt: before.now.toISOString() }),
})

test('pods are replaced once for a digest: then nothing is left to do, also for the next operator', () => {
  fc.assert(
    fc.property(facts, digest, (given, digestAtStart) => {
      const plan = planRestart(given)
      if (plan === undefined) return
      expect(planRestart({ ...execute(given, plan), digestAtStart })).toBeUndefined()
    }),
    chooseCases(500),
  )
})

test('an operator that still sees the old files right after a restart does not take them for newer ones', () => {
  fc.assert(
    fc.property(facts, digest, fc.nat({ max: maxLagSeconds }), (given, stale, lag) => {
      if (planRestart(given) !== 'restart') return
      const now = new Date(start + lag * 1000)
      const next = { ...execute(given, 'restart'), digest: stale, digestAtStart: stale, now }
      expect(planRestart(next)).toBeUndefined()
    }),
    chooseCases(500),
  )
})
