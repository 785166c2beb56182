import { expect, test } from 'vitest'
import { BlockedJobs } from './blocked-jobs.ts'

test('the jobs that wait for a model are listed in the order in which they came, until they wait no more', () => {
  const jobs = new BlockedJobs()
  for (const job of ['b', 'a', 'b']) jobs.record(job, 'model', true)
  jobs.record('c', 'other', true)
  expect(jobs.list('model')).toEqual(['b', 'a'])
  jobs.record('b', 'model', false)
  jobs.record('never', 'model', false)
  expect([jobs.list('model'), jobs.list('other'), jobs.list('none')]).toEqual([['a'], ['c'], []])
})
