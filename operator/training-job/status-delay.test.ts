import { expect, test } from 'vitest'
import { planFirstDelay, planStatusDelay } from './status-delay.ts'
import type { JobStatus } from './status.ts'

const condition = { type: 'Accepted', status: 'True' as const, reason: 'Accepted', lastTransitionTime: '' }
const waiting = (message: string): JobStatus => ({
  phase: 'Queued',
  reason: 'WaitingForModel',
  message,
  conditions: [{ ...condition, message }],
})
const running = (step: number): JobStatus => ({
  phase: 'Running',
  progress: { step, totalSteps: 9, summary: `${step}/9` },
})

test.each<[string, JobStatus | undefined, JobStatus, number, object]>([
  ['the end is written at once', running(1), { phase: 'Failed' }, 5_000, { settleMs: 0, intervalMs: 0 }],
  ['another phase waits for the next one', waiting('2'), running(0), 5_000, { settleMs: 1_000, intervalMs: 0 }],
  ['a claim waits for the start', waiting('2'), { phase: 'Starting' }, 1, { settleMs: 2_000, intervalMs: 0 }],
  ['so does the first status', undefined, waiting('2'), 1, { settleMs: 1_000, intervalMs: 0 }],
  ['progress is written every five seconds', running(1), running(2), 1, { settleMs: 0, intervalMs: 5_000 }],
  ['the position of one of few is written soon', waiting('2'), waiting('1'), 10, { settleMs: 0, intervalMs: 2_000 }],
  ['of a thousand, fewer than 20 a second', waiting('2'), waiting('1'), 1_000, { settleMs: 0, intervalMs: 50_000 }],
  ['and never later than after a minute', waiting('2'), waiting('1'), 9_000, { settleMs: 0, intervalMs: 60_000 }],
])('%s', (_, before, after, others, delay) => {
  expect(planStatusDelay(before, after, others)).toEqual(delay)
})

test('a waiting job is described the later, the more of them wait', () => {
  expect([0, 20, 60, 9_000].map((others) => planFirstDelay(others).settleMs)).toEqual([1_000, 1_000, 3_000, 30_000])
})
