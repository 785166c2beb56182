import { expect, test } from 'vitest'
import { locate } from './client.ts'

test('values of the path are escaped, and those of the query that are not set are left out', () => {
  const parts = { path: { model_id: 'a/b ?' }, query: { keys: 'a,b&c', samples: 2, from: undefined } }
  expect(locate('GET /v1/preview/models/{model_id}/metrics', parts)).toEqual({
    method: 'GET',
    address: '/v1/preview/models/a%2Fb%20%3F/metrics?keys=a,b%26c&samples=2',
  })
})

test('a body travels with its method', () => {
  expect(locate('POST /calls', { body: { a: 1 } })).toEqual({ method: 'POST', address: '/calls', body: { a: 1 } })
})
