import { expect, test } from 'vitest'
import { noFilters, readRequest, writeRequest, type CallFilters } from './call-query.ts'
import { readFilters, writeFilters } from './call-search.ts'
import { brush, drawBars, timeAt, type Histogram } from './histogram.ts'

const wanted: CallFilters = {
  ...noFilters,
  rootsOnly: true,
  ops: ['a,b', 'c%2C'],
  statuses: ['error', 'running'],
  models: ['gpt-4.1'],
  threads: ['t'],
  text: 'find me',
  minTokens: 10,
  maxLatencyMs: 500,
  feedback: 'note',
  from: '2026-11-21T10:00:00.000Z',
  to: '2026-11-21T11:00:00.000Z',
  others: [{ $eq: [{ $getField: 'inputs.x' }, { $literal: 1 }] }],
  otherFilter: { trace_ids: ['one'] },
}

test('a request that filters make is read as these filters', () => {
  expect(readRequest(writeRequest(wanted, 'team/p'))).toEqual(wanted)
})

test('an address keeps each filter', () => {
  expect(readFilters(writeFilters(wanted), true)).toEqual({ ...wanted, minLatencyMs: undefined })
})

test('an address with nonsense filters nothing', () => {
  const read = readFilters({ status: 'odd', tokens: '-1', from: 'today', filter: '{', query: '[' }, false)
  expect(writeRequest(read, 'team/p')).toEqual({ filter: {} })
})

const histogram: Histogram = {
  from: '2026-11-21T10:00:00.000Z',
  to: '2026-11-21T11:00:00.000Z',
  buckets: [0, 1, 100, 50].map((calls) => ({ calls, errors: calls === 50 ? 50 : 0 })),
}

test('bars of a histogram have heights by their calls, and what is there is visible', () => {
  expect(drawBars(histogram, 400, 50).map(({ calls, errors }) => [calls, errors])).toEqual([
    [0, 0],
    [2, 0],
    [50, 0],
    [25, 25],
  ])
})

test('a range over a histogram has the edges of its buckets, and no end at its right', () => {
  const [second, third] = [timeAt(histogram, 0.25), timeAt(histogram, 0.5)]
  expect(brush(histogram, 0.4, 0.3)).toEqual({ from: second, to: third })
  expect(brush(histogram, 0.3, 0.9)).toEqual({ from: second, to: undefined })
})
