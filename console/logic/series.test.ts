import { expect, test } from 'vitest'
import { formatMetric } from './numbers.ts'
import { arrangeCharts, describeSeries, drawSparkline, joinSeries, makeBand } from './series.ts'

const points = (...values: number[]) => values.map((value, index) => ({ step: index + 1, value }))

test('series are joined by their steps, in order', () => {
  const a = [
    { step: 3, value: 30 },
    { step: 1, value: 10 },
  ]
  const b = [
    { step: 2, value: 2 },
    { step: 3, value: 3 },
    { step: 3, value: 4 },
  ]
  expect(joinSeries([a, b])).toEqual({
    x: [1, 2, 3],
    ys: [
      [10, null, 30],
      [null, 2, 4],
    ],
  })
  expect(joinSeries([])).toEqual({ x: [], ys: [] })
})

test('a band has the steps where the deviation is known', () => {
  expect(makeBand(points(1, 2, 3), points(0.5, 0))).toEqual({ low: points(0.5, 2), high: points(1.5, 2) })
})

test('a sentence tells what a chart shows', () => {
  const describe = (...values: number[]) => describeSeries({ name: 'reward', points: points(...values) }, formatMetric)
  expect(describe(0.25, 0.75, 0.5)).toBe('reward: 0.250 at step 1, 0.500 at step 3; lowest 0.250, highest 0.750.')
  expect(describe(0.25)).toBe('reward: 0.250 at step 1.')
  expect(describe()).toBe('reward: no values yet.')
})

test('the sentence of a chart of means names the values that are far from them', () => {
  const extremes = { low: points(0, -40, 0), high: points(1, 1, 50) }
  expect(describeSeries({ name: 'loss', points: points(0.5, 0.25, 0.5), extremes }, formatMetric)).toBe(
    'loss: 0.500 at step 1, 0.500 at step 3; lowest −40, highest 50.',
  )
})

test('a sparkline fills its box, and equal values are its middle', () => {
  expect(drawSparkline(points(0, 10, 5), 100, 20)).toBe('0.0,20.0 50.0,0.0 100.0,10.0')
  expect(drawSparkline(points(7, 7), 100, 20)).toBe('0.0,10.0 100.0,10.0')
  expect(drawSparkline([], 100, 20)).toBe('')
})

test('known metrics come first, train and val together; words choose charts', () => {
  const keys = ['zeta', 'loss', 'val/reward', 'reward', 'reward_std_dev', 'alpha/reward']
  expect(arrangeCharts(keys)).toEqual([['reward', 'val/reward'], ['loss'], ['alpha/reward'], ['zeta']])
  expect(arrangeCharts(keys, 'VAL rew')).toEqual([['reward', 'val/reward']])
  expect(arrangeCharts(keys, 'nothing')).toEqual([])
})

test('what ART logs of a job is in the chart of the metric, under the names of all its releases', () => {
  const judge = ['train/group/judge', 'train/group_judge']
  const tokens = ['data/step_trainable_assistant_tokens', 'data/step_trainer_tokens']
  const keys = [...judge, ...tokens, 'train/reward', 'val/reward', 'loss/train', 'sft/loss/train']
  const charts = [['train/reward', 'val/reward'], ['loss/train', 'sft/loss/train'], tokens, judge]
  expect(arrangeCharts(keys)).toEqual(charts)
  expect(arrangeCharts(['loss', 'reward'], 'loss/train')).toEqual([['loss']])
})
