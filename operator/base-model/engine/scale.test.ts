import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseCases } from '../../../test/support/random-cases.ts'
import { planScale, type ScaleHistory, type ScaleObservation } from './scale.ts'

const bounds = { min: 0, max: 4, delayMs: 10_000 }

/** Plans each observation after the one before it. Returns the numbers of replicas. */
function planAll(observations: Omit<ScaleObservation, 'current'>[], start = 0, within = bounds): number[] {
  let history: ScaleHistory = []
  let current = start
  return observations.map((observation) => {
    const plan = planScale(history, within, { ...observation, current })
    history = plan.history
    return (current = plan.replicas)
  })
}

const at = (seconds: number, needed: number) => ({ nowMs: seconds * 1_000, needed })

test('replicas are added at once, up to the maximum', () => {
  expect(planAll([at(0, 0), at(1, 1), at(2, 3), at(3, 9)])).toEqual([0, 1, 3, 4])
})

test('replicas are removed after the delay, down to the most that was needed in it', () => {
  expect(planAll([at(0, 3), at(1, 0), at(5, 2), at(9, 0), at(11, 0), at(14.9, 0), at(15.1, 0)])).toEqual([
    3, 3, 3, 3, 2, 2, 0,
  ])
})

test('a new operator removes nothing before the delay', () => {
  expect(planAll([at(0, 0), at(9, 0), at(10.1, 0)], 2)).toEqual([2, 2, 0])
})

test('a time without observations is no time without requests', () => {
  expect(planAll([at(0, 2), at(100, 0), at(109, 0), at(110.1, 0)])).toEqual([2, 2, 2, 0])
})

test('without a delay, replicas follow what is needed', () => {
  expect(planAll([at(0, 2), at(1, 0), at(2, 1)], 0, { ...bounds, delayMs: 0 })).toEqual([2, 0, 1])
})

const observations = fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 20_000 }), needed: fc.nat(9) }), {
  maxLength: 40,
})

test('it never removes what was needed within the delay, keeps its bounds, and its history stays short', () => {
  fc.assert(
    fc.property(observations, fc.nat(3), fc.nat(9), (steps, min, start) => {
      const within = { ...bounds, min }
      let [history, current, nowMs]: [ScaleHistory, number, number] = [[], start, 0]
      const seen: { nowMs: number; needed: number }[] = []
      for (const { afterMs, needed } of steps) {
        nowMs += afterMs
        seen.push({ nowMs, needed })
        const plan = planScale(history, within, { nowMs, current, needed })
        const recent = seen.filter((each) => nowMs - each.nowMs < bounds.delayMs).map((each) => each.needed)
        expect(plan.replicas).toBeGreaterThanOrEqual(Math.min(bounds.max, Math.max(min, ...recent)))
        expect(plan.replicas).toBeLessThanOrEqual(bounds.max)
        expect(plan.history.length).toBeLessThanOrEqual(bounds.max - min + 1)
        history = plan.history
        current = plan.replicas
      }
    }),
    chooseCases(200),
  )
})

test('without requests, it comes down to the minimum soon after the delay', () => {
  fc.assert(
    fc.property(observations, fc.nat(3), (steps, min) => {
      let nowMs = 0
      const busy = steps.map(({ afterMs, needed }) => ({ nowMs: (nowMs += afterMs), needed }))
      const idle = Array.from({ length: 12 }, () => ({ nowMs: (nowMs += 1_000), needed: 0 }))
      expect(planAll([...busy, ...idle], 0, { ...bounds, min }).at(-1)).toBe(min)
    }),
    chooseCases(200),
  )
})
