import { expect, test } from 'vitest'
import { listRunRequests } from './run-requests.ts'

const model = { id: 'm1', step: 12 }

test.each<[string, Record<string, string>, string]>([
  ['checkpoints', {}, '/v1/preview/models/m1/checkpoints'],
  ['jobs', {}, '/v1/preview/training-jobs?model_id=m1&order=desc'],
  ['trajectories', {}, '/v1/preview/models/m1/trajectories?step=12&limit=100'],
  [
    'trajectories',
    { step: '3', split: 'val', order: 'push', scenario: 'a b' },
    '/v1/preview/models/m1/trajectories?step=3&split=val&scenario_id=a+b&sort=push&order=desc&limit=100',
  ],
  ['trajectories', { q: 'oslo' }, '/v1/preview/models/m1/trajectory-matches?text=oslo&step=12'],
])('the tab %s with %j shows %s', (tab, search, wanted) => {
  expect(listRunRequests(tab, search, model)).toEqual([wanted])
})

test('charts show their axis and their part', () => {
  const [keys, metrics] = listRunRequests('warm', { x: 'gradient step', from: '3', to: '9' }, model)
  expect(keys).toBe('/v1/preview/models/m1/metric-keys')
  expect(metrics).toMatch(/^\/v1\/preview\/models\/m1\/metrics\?keys=reward,.*&points=2000&x=index&from=3&to=9$/)
})
