import { expect, test } from 'vitest'
import { bandOf, chooseCurves, deviationsOf, positionMarkers, rangeOf, stepAt } from './curves.ts'

const envelope = (exact: boolean, first: number[], mean: number[]) => ({
  exact,
  width: exact ? 1 : 16,
  first,
  mean,
  min: mean.map((value) => value - 1),
  max: mean.map((value) => value + 2),
})
const metrics = [
  { key: 'loss', source: 'training' as const, points: [], envelope: envelope(true, [1, 2], [10, 20]) },
  { key: 'loss', source: 'gradient' as const, points: [], envelope: envelope(false, [0, 16], [5, 6]) },
  { key: 'loss', source: 'logged' as const, points: [{ step: 9, value: 9 }] },
  { key: 'val/reward', source: 'logged' as const, points: [{ step: 1, value: 0.5 }] },
]

test('by step the values of jobs count, and then the gradient steps of later ones; along the others that of its gradient steps', () => {
  expect(chooseCurves(metrics, 'step')).toEqual({
    loss: {
      width: 1,
      points: [
        { step: 1, value: 10 },
        { step: 2, value: 20 },
        { step: 16, value: 6 },
      ],
    },
    'val/reward': { width: 1, points: [{ step: 1, value: 0.5 }] },
  })
  const steps = [{ ...metrics[1]!, envelope: envelope(true, [3, 3, 3, 4], [1, 2, 3, 4]) }]
  expect(chooseCurves(steps, 'step')['loss']?.points).toEqual([
    { step: 3, value: 3 },
    { step: 4, value: 4 },
  ])
  const byIndex = chooseCurves(metrics, 'index')
  expect(Object.keys(byIndex)).toEqual(['loss'])
  expect(byIndex['loss']).toEqual({
    width: 16,
    points: [
      { step: 0, value: 5 },
      { step: 16, value: 6 },
    ],
    extremes: {
      low: [
        { step: 0, value: 4 },
        { step: 16, value: 5 },
      ],
      high: [
        { step: 0, value: 7 },
        { step: 16, value: 8 },
      ],
    },
  })
  expect(chooseCurves(metrics.slice(0, 1), 'time')['loss']?.points).toHaveLength(2)
})

test('a band is what buckets contain, or the deviation of a reward', () => {
  expect(bandOf('loss', chooseCurves(metrics, 'index'))?.high[1]).toEqual({ step: 16, value: 8 })
  const curve = (value: number) => ({ width: 1, points: [{ step: 1, value }] })
  expect(bandOf('reward', { reward: curve(1), reward_std_dev: curve(0.25) })).toEqual({
    low: [{ step: 1, value: 0.75 }],
    high: [{ step: 1, value: 1.25 }],
  })
  expect(bandOf('loss', { loss: curve(1), reward_std_dev: curve(0.25) })).toBeUndefined()
  expect(deviationsOf('val/reward')).toEqual(['val/reward_std_dev'])
  expect(deviationsOf('train/reward')).toEqual(['train/reward_std_dev', 'reward_std_dev'])
})

const jobs = [
  { state: 'Running', step: null, progress: { step: 2 }, failure: null, finished_at: null },
  { state: 'Succeeded', step: 2, progress: { step: 4 }, failure: null, finished_at: '2026-01-01T00:02:00Z' },
  {
    state: 'Failed',
    step: null,
    progress: { step: 1 },
    failure: { code: 'OutOfMemory' },
    finished_at: '2026-01-01T00:01:00Z',
  },
  { state: 'Succeeded', step: 1, progress: { step: 3 }, failure: null, finished_at: '2026-01-01T00:00:00Z' },
]
const model = { jobs, aliases: { prod: 1 }, total: 10 }

test.each([
  ['step', [2, 2, 1, 1]],
  ['index', [7, 3, 2, 2]],
  ['time', [...jobs.slice(1), jobs[3]!].map(({ finished_at }) => Date.parse(finished_at!))],
] as const)('checkpoints, failures and aliases by %s', (axis, wanted) => {
  const markers = positionMarkers(axis, model)
  expect(markers.map(({ step }) => step)).toEqual(wanted)
  expect(markers.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'checkpoint checkpoint 2',
    'failure failed: OutOfMemory',
    'checkpoint checkpoint 1',
    'alias prod',
  ])
})

test('a position of a chart belongs to the step that was made from there on', () => {
  expect(stepAt(7, 'step', [])).toBe(7)
  const markers = positionMarkers('index', model)
  expect([0, 2, 3, 7, 8].map((position) => stepAt(position, 'index', markers))).toEqual([1, 1, 2, 2, undefined])
})

test.each([
  [0, 0, [0, 1]],
  [null, null, [0, 1]],
  [5, 5, [4.5, 5.5]],
  [-5, -5, [-5.5, -4.5]],
  [0, 1, [0, 1.08]],
  [-1, 0, [-1.08, 0]],
  [-1, 1, [-1.16, 1.16]],
] as const)('values from %s to %s are shown from and to %j', (low, high, wanted) => {
  const [from, to] = rangeOf(low, high)
  expect(from).toBeCloseTo(wanted[0])
  expect(to).toBeCloseTo(wanted[1])
})
