import { expect, test } from 'vitest'
import type { Retention } from '../../db/retention/checkpoints.ts'
import { planRetention } from './plan.ts'

// Step, reward, age in seconds.
const checkpoints = [
  [1, 0.9, 500],
  [2, 0.1, 400],
  [3, 0.9, 300],
  [4, undefined, 200],
  [5, 0.5, 100],
].map(([step, reward, age]) => ({ step: step!, metrics: reward === undefined ? {} : { reward }, ageSeconds: age! }))

const best = (mode: 'max' | 'min', count: number) => ({ keep_best: { metric: 'reward', mode, count } })

test.each<[string, Retention, number[]]>([
  ['the last two', { keep_last: 2 }, [3, 2, 1]],
  ['more than exist', { keep_last: 9 }, []],
  ['the best, and the newer of equal ones', best('max', 1), [4, 2, 1]],
  ['the two best', best('max', 2), [4, 2]],
  ['the lowest', best('min', 1), [4, 3, 1]],
  ['the best by a metric that no checkpoint has', { keep_best: { metric: 'x', mode: 'max', count: 3 } }, [4, 3, 2, 1]],
  ['those younger than the time to live', { ttl_seconds: 250 }, [3, 2, 1]],
  ['the newest, even if all are too old', { ttl_seconds: 10 }, [4, 3, 2, 1]],
  ['those that any rule keeps', { keep_last: 1, ttl_seconds: 250, ...best('max', 1) }, [2, 1]],
])('%s', (_, retention, deleted) => {
  expect(planRetention(retention, checkpoints)).toEqual(deleted)
})

test('without checkpoints nothing is deleted', () => {
  expect(planRetention({ keep_last: 1 }, [])).toEqual([])
})
