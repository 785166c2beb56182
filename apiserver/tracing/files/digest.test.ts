import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { digestBytes } from '../json/digests.ts'
import { presentDigest } from './digest.ts'

test('a file has the digest of its bytes', () => {
  for (let length = 0; length < 100; length++) {
    const bytes = Buffer.alloc(length, length)
    expect(presentDigest(createHash('sha256').update(bytes).digest())).toBe(digestBytes(bytes))
  }
})
