import { expect, test } from 'vitest'
import { listNumbers, readHistory } from './history.ts'

test('metrics of the program are in charts, and not what the SDK writes of itself', () => {
  const keys = [
    { key: 'loss', type: 'number' },
    { key: 'note', type: 'string' },
    { key: '_step', type: 'number' },
    { key: 'system/cpu', type: 'number' },
  ]
  expect(listNumbers(keys)).toEqual(['loss'])
})

test('points are in the order of their steps, and what is no number is left out', () => {
  const rows = [{ _step: 3, loss: 0.5 }, { _step: 1, loss: 2 }, { _step: 2, loss: 'NaN' }, { loss: 4 }]
  expect(readHistory(rows, 'loss')).toEqual([
    { step: 1, value: 2 },
    { step: 3, value: 0.5 },
    { step: 3, value: 4 },
  ])
})
