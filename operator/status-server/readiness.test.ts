import { expect, test } from 'vitest'
import { IssuerKeys } from './issuer-keys.ts'
import { explainNotReady } from './readiness.ts'

const read = () => Promise.resolve({ name: 'issuer', getKey: () => Promise.reject(new Error('not asked')) })
const fail = () => Promise.reject(new Error('connect ECONNREFUSED'))

test.each([
  ['a database that is not migrated', false, read, 'the database is not migrated yet'],
  ['no keys', true, fail, 'the keys that tokens are checked with cannot be read from kube-apiserver now'],
  ['all it needs', true, read, undefined],
])('a status server with %s', async (_, isMigrated, readIssuer, expected) => {
  const keys = new IssuerKeys(readIssuer)
  expect(await explainNotReady({ isMigrated: () => isMigrated, keys })).toBe(expected)
})

test('keys that were read once are enough while kube-apiserver is unavailable', async () => {
  const reads = [read, fail]
  const keys = new IssuerKeys(() => reads.shift()!())
  const readiness = { isMigrated: () => true, keys }
  expect(await explainNotReady(readiness)).toBeUndefined()
  expect(await explainNotReady(readiness)).toBeUndefined()
})
