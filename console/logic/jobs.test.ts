import { expect, test } from 'vitest'
import { listLanes, listLoadLanes, shareDone, type Timeline } from './jobs.ts'

const at = (second: number) => new Date(second * 1000).toISOString()
const nothing: Timeline = {
  created_at: at(0),
  queued_at: null,
  claimed_at: null,
  started_at: null,
  trained_at: null,
  published_at: null,
  finished_at: null,
}
const write = (timeline: Timeline) =>
  listLanes(timeline, 100_000).map(
    ({ name, from, to, isOpen }) => `${name} ${from / 1000}-${to / 1000}${isOpen ? ' open' : ''}`,
  )

test('a queued job is in its last lane until now', () => {
  expect(write({ ...nothing, queued_at: at(2) })).toEqual(['pending 0-2', 'queued 2-100 open'])
})

test('a finished job has a lane for each phase that it reached', () => {
  const all = { queued_at: at(1), claimed_at: at(5), started_at: at(7), trained_at: at(20), finished_at: at(22) }
  expect(write({ ...nothing, ...all })).toEqual([
    'pending 0-1',
    'queued 1-5',
    'starting 5-7',
    'running 7-20',
    'publishing 20-22',
  ])
})

test('a job that is cancelled in the queue ends there', () => {
  expect(write({ ...nothing, queued_at: at(1), finished_at: at(9) })).toEqual(['pending 0-1', 'queued 1-9'])
})

test('no lane is shorter than nothing', () => {
  expect(write({ ...nothing, queued_at: at(9), claimed_at: at(5), finished_at: at(10) })).toEqual([
    'pending 0-9',
    'queued 9-9',
    'starting 5-10',
  ])
})

test('engines that loaded the checkpoint soon have a lane, and not those that failed or came later', () => {
  const loads = [
    { pod: 'a', at: at(25), error: null },
    { pod: 'b', at: at(21), error: null },
    { pod: 'c', at: at(26), error: 'too large' },
    { pod: 'd', at: at(9_000), error: null },
  ]
  expect(listLoadLanes({ ...nothing, published_at: at(22) }, loads)).toEqual([
    { name: 'loading', pod: 'a', from: 22_000, to: 25_000, isOpen: false },
    { name: 'loading', pod: 'b', from: 22_000, to: 22_000, isOpen: false },
  ])
  expect(listLoadLanes(nothing, loads)).toEqual([])
})

test('the share of an unknown length is unknown', () => {
  expect(shareDone({ step: 3, total_steps: null })).toBeUndefined()
  expect(shareDone({ step: 3, total_steps: 4 })).toBe(0.75)
})
