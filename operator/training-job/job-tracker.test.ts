import { expect, test } from 'vitest'
import type { TrainingJob } from '../../crds/generated.ts'
import { labels } from '../../crds/names.ts'
import { JobTracker } from './job-tracker.ts'

const jobOf = (model: string, id?: string) =>
  ({
    metadata: { namespace: 'team', ...(id !== undefined && { labels: { [labels.id]: id } }) },
    spec: { modelRef: { name: model } },
  }) as unknown as TrainingJob

test('the jobs that wait for a model are listed in the order in which they came, until they wait no more', () => {
  const jobs = new JobTracker()
  for (const key of ['b', 'a', 'b']) jobs.record(key, jobOf('model'), { isBlocked: true })
  jobs.record('c', jobOf('other'), { isBlocked: true })
  expect(jobs.listBlocked('team/model')).toEqual(['b', 'a'])
  jobs.record('b', jobOf('model'), { isBlocked: false })
  jobs.record('never', jobOf('model'), { isBlocked: false })
  expect(['model', 'other', 'none'].map((name) => jobs.listBlocked(`team/${name}`))).toEqual([['a'], ['c'], []])
})

test('jobs without an id begin one after the other, and others at once', async () => {
  const jobs = new JobTracker()
  const [first, order]: [PromiseWithResolvers<void>, string[]] = [Promise.withResolvers(), []]
  const begin = (name: string, work: () => Promise<void>, id?: string) =>
    jobs.inOrder(jobOf('model', id), () => {
      order.push(name)
      return work()
    })
  const [one, two] = [begin('first', () => first.promise), begin('second', async () => {})]
  await begin('known', async () => {}, 'an id')
  expect(order.toSorted()).toEqual(['first', 'known'])
  first.resolve()
  await Promise.all([one, two])
  expect(order.at(-1)).toBe('second')
})
