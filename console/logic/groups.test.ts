import { expect, test } from 'vitest'
import {
  compareSteps,
  groupTrajectories,
  listMetrics,
  sortTrajectories,
  summarizePushes,
  type ListedTrajectory,
} from './groups.ts'

const row = (changes: Partial<ListedTrajectory>): ListedTrajectory => ({
  id: 'a',
  job_id: 'job',
  log_id: null,
  group_index: 0,
  group_exceptions: 0,
  scenario_id: null,
  prompt_hash: 'ab'.repeat(32),
  reward: 0,
  advantage: null,
  push: null,
  metrics: {},
  tokens: 1,
  flags: [],
  ...changes,
})

test('trajectories of one job and index are a group', () => {
  const groups = groupTrajectories([
    row({ reward: 1, scenario_id: 'warm', group_exceptions: 2 }),
    row({ reward: 0, scenario_id: 'warm' }),
    row({ group_index: 1, reward: 3 }),
    row({ job_id: null, log_id: 'log', reward: 3 }),
  ])
  expect(
    groups.map(({ name, meanReward, deviation, exceptions, dropped, trajectories }) => [
      name,
      meanReward,
      deviation,
      exceptions,
      dropped,
      trajectories.length,
    ]),
  ).toEqual([
    ['warm', 0.5, 0.5, 2, undefined, 2],
    ['prompt abababab', 3, 0, 0, 'equal rewards', 1],
    ['prompt abababab', 3, 0, 0, undefined, 1],
  ])
})

test('a flag that all of a group have says why it taught nothing', () => {
  const flags = ['no_logprobs']
  expect(groupTrajectories([row({ reward: 1, flags }), row({ flags })])[0]!.dropped).toBe(
    'answers without log-probabilities',
  )
  expect(groupTrajectories([row({ reward: 1, flags }), row({})])[0]!.dropped).toBeUndefined()
})

test('a group that only calls tools is none that taught nothing, and one without any push is', () => {
  const calls = { flags: ['tool_calls'] }
  expect(groupTrajectories([row({ reward: 1, ...calls }), row(calls)])[0]!.dropped).toBeUndefined()
  expect(groupTrajectories([row({ reward: 1, push: 0 }), row({ push: 0 })])[0]!.dropped).toMatch(/too long/)
  expect(groupTrajectories([row({ reward: 1, push: 0.1 }), row({ push: 0 })])[0]!.dropped).toBeUndefined()
})

test('pushes are summed up: how many went which way, and how few are half of it all', () => {
  const pushes = [4, -3, 1, 0, null, 1].map((push) => row({ push }))
  expect(summarizePushes(pushes)).toEqual({ likelier: 3, unlikelier: 1, none: 1, half: 2 })
  expect(summarizePushes([row({})])).toEqual({ likelier: 0, unlikelier: 0, none: 0, half: 0 })
})

test('metrics are listed once, by name', () => {
  expect(listMetrics([row({ metrics: { b: 1 } }), row({ metrics: { a: true, b: 2 } })])).toEqual(['a', 'b'])
})

test('pushes and advantages are ranked by their size, rewards by their value, unknown ones last', () => {
  const rows = [
    row({ id: 'a', push: -3, reward: -3 }),
    row({ id: 'b', push: 2, reward: 2 }),
    row({ id: 'c', reward: 5 }),
  ]
  const ids = (order: 'push' | 'reward' | 'group') =>
    sortTrajectories(rows, order)
      .map(({ id }) => id)
      .join('')
  expect([ids('push'), ids('reward'), ids('group')]).toEqual(['abc', 'cba', 'abc'])
})

test('prompts of two steps are ranked by how much their reward rose', () => {
  const at = (prompt_hash: string, id: string, reward: number) => row({ prompt_hash, id, reward })
  const earlier = [at('a', 'a1', 0), at('a', 'a2', 1), at('b', 'b1', 1), at('only then', 'c1', 0)]
  const later = [at('b', 'b2', 0.5), at('a', 'a3', 1), at('a', 'a4', 0.5), at('only now', 'd1', 1)]
  const found = compareSteps(earlier, later).map(({ before, after, rise, worst, best }) => [
    before,
    after,
    rise,
    `${worst.id} ${best.id}`,
  ])
  expect(found).toEqual([
    [0.5, 0.75, 0.25, 'a1 a3'],
    [1, 0.5, -0.5, 'b1 b2'],
  ])
})
