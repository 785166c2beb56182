import { expect, test } from 'vitest'
import { makeJob } from '../../test/support/job-objects.ts'
import { describeStall, explainStall } from './stall.ts'

const now = new Date('2026-01-01T01:00:00Z')
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000)

test('a job that runs is stalled when it has reported nothing for ten minutes, and says since when', () => {
  const running = makeJob({ state: 'Running', reportedAt: minutesAgo(9.9) })
  expect(explainStall(running, now)).toBeUndefined()
  expect(describeStall(running, now)).toMatchObject([{ type: 'Stalled', status: 'False', reason: 'StepReported' }])
  const stalled = makeJob({ state: 'Running', reportedAt: minutesAgo(10) })
  expect(explainStall(stalled, now)).toEqual({
    reason: 'Stalled',
    message: expect.stringContaining('since 2026-01-01T00:50:00Z') as string,
  })
  expect(describeStall(stalled, now)).toMatchObject([{ status: 'True', reason: 'Stalled' }])
})

test.each(['Queued', 'Starting', 'Publishing', 'Succeeded'] as const)('a job in %s is not stalled', (state) => {
  const job = makeJob({ state, reportedAt: minutesAgo(100) })
  expect(explainStall(job, now)).toBeUndefined()
  expect(describeStall(job, now)).toEqual([])
})

test('nothing is known of a job that ran before its reports had times', () => {
  expect(explainStall(makeJob({ state: 'Running' }), now)).toBeUndefined()
})
