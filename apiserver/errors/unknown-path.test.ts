import { expect, test } from 'vitest'
import { describeUnknownPath } from './unknown-path.ts'

const known = [
  { method: 'get', path: '/v1/preview/models' },
  { method: 'post', path: '/v1/preview/models' },
  { method: 'get', path: '/v1/preview/models/{model_id}' },
  { method: 'get', path: '/v1/preview/training-jobs/{training_job_id}/events' },
  { method: 'get', path: '/v1/preview/artifacts/{entity}/{project}/{name}/files/{path*}' },
]

test('an unknown path is answered with the nearest ones of its method', () => {
  expect(describeUnknownPath({ method: 'GET', path: '/v1/preview/model' }, known)).toBe(
    'GET /v1/preview/model does not exist. GET /docs lists all operations. ' +
      'The nearest: GET /v1/preview/models, GET /v1/preview/models/{model_id}.',
  )
  expect(describeUnknownPath({ method: 'POST', path: '/v1/preview/model' }, known)).toMatch(
    /nearest: POST \/v1\/preview\/models\.$/,
  )
})

test('a path that is similar to none gets no suggestions', () => {
  expect(describeUnknownPath({ method: 'GET', path: '/favicon.ico' }, known)).toBe(
    'GET /favicon.ico does not exist. GET /docs lists all operations.',
  )
})

test('the answer to a long path is short and fast', () => {
  const long = `/v1/preview/${'a/'.repeat(50_000)}${'b'.repeat(50_000)}`
  const started = performance.now()
  expect(describeUnknownPath({ method: 'GET', path: long }, known).length).toBeLessThan(1_000)
  expect(performance.now() - started).toBeLessThan(2_000)
})
