import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { digestBytes, digestTable, digestValue, presentDigest } from './digests.ts'
import { parseValue } from '../../lib/json/value.ts'

// The expected values were computed with Python's hashlib.
test.each([
  ['of an empty text', digestBytes(Buffer.alloc(0)), '47DEQpj8HBSaXYTImWX5JCeuQeRkm5NMpJWZG3hSuFU'],
  ['of a value', digestValue(parseValue('{"b":1.0,"a":"é"}')), 'fnvNOfMXzDB9fqOQX26F0PQHvU4QxUh1cxEdfDA4dus'],
  ['of an empty table', digestTable([]), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['of a table', digestTable(['a', 'bc']), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
])('the digest %s', (_, digest, expected) => {
  expect(digest).toBe(expected)
})

test('a file has the digest of its bytes', () => {
  for (let length = 0; length < 100; length++) {
    const bytes = Buffer.alloc(length, length)
    expect(presentDigest(createHash('sha256').update(bytes).digest())).toBe(digestBytes(bytes))
  }
})
