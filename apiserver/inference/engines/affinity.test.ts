import { expect, test } from 'vitest'
import { hashAffinity, hashText } from './affinity.ts'

const key = { entity: 'acme', model: 'base', prefix: 'Hello' }

test('a key always has the same hash, and other keys have other hashes', () => {
  // From the test vectors of the algorithm's authors.
  expect(['', 'a', 'foobar'].map(hashText)).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968])
  const others = [{ entity: 'globex' }, { model: 'other' }, { prefix: 'Bye' }].map((more) =>
    hashAffinity({ ...key, ...more }),
  )
  expect(new Set([hashAffinity(key), ...others]).size).toBe(4)
})
