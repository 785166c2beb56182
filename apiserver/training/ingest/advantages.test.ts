import { expect, test } from 'vitest'
import { fillAdvantages } from './advantages.ts'
import { indexTrajectory, type TrajectoryIndexRow } from './index-row.ts'

function advantagesOf(rewards: number[], scaleRewards: boolean) {
  const position = { group_index: 0, trajectory_index: 0, group_exceptions: 0, payload_offset: 0, payload_length: 0 }
  const rows = rewards.map((reward): TrajectoryIndexRow => ({
    ...position,
    advantage: null,
    ...indexTrajectory({ reward }, 'team/demo/agent'),
  }))
  fillAdvantages(rows, scaleRewards)
  return rows.map(({ advantage, flags }) => [advantage, flags.includes('zero_advantage')])
}

test('an advantage is the difference from the mean of the group, in its standard deviations or not', () => {
  expect(advantagesOf([0, 2], false)).toEqual([
    [-1, false],
    [1, false],
  ])
  expect(advantagesOf([0, 2], true)).toEqual([
    [-1 / (1 + 1e-6), false],
    [1 / (1 + 1e-6), false],
  ])
})

test('rewards that differ by the noise of floats are equal', () => {
  expect(advantagesOf([0.3, 0.1 + 0.2], true)).toEqual([
    [0, true],
    [0, true],
  ])
})
