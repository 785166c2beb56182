import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { shareCheck } from './shared-check.ts'

/** A check whose runs are counted and ended by the test, with a clock that the test sets. */
function countedCheck() {
  const runs: PromiseWithResolvers<number>[] = []
  const clock = { ms: 0 }
  const check = () => {
    runs.push(Promise.withResolvers())
    return runs.at(-1)!.promise
  }
  return { runs, clock, ask: shareCheck(check, 2_000, () => clock.ms) }
}

test('many callers share one check of any duration, and its result for two seconds', async () => {
  const { runs, clock, ask } = countedCheck()
  const first = Array.from({ length: 100 }, ask)
  clock.ms = 3_000
  first.push(ask())
  runs[0]!.resolve(1)
  expect(new Set(await Promise.all(first))).toEqual(new Set([1]))
  clock.ms = 4_999
  expect(await ask()).toBe(1)
  expect(runs).toHaveLength(1)
  clock.ms = 5_000
  const again = ask()
  expect(runs).toHaveLength(2)
  runs[1]!.resolve(2)
  expect(await again).toBe(2)
})

test('a failed check is reported to the waiting callers, and then repeated', async () => {
  const { runs, ask } = countedCheck()
  const failed = ask()
  runs[0]!.reject(new Error('no'))
  await expect(failed).rejects.toThrow('no')
  await turn()
  void ask()
  expect(runs).toHaveLength(2)
})
