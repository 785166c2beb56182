import { expect, test } from 'vitest'
import { hasRoom } from './free-space.ts'

const gib = 1024 ** 3
const disk = (bytes: number, freeBytes: number) => ({ bsize: 4096, blocks: bytes / 4096, bavail: freeBytes / 4096 })

test.each<[string, number, number, boolean]>([
  ['a large disk with more than 1 GiB', 1000 * gib, 2 * gib, true],
  ['a large disk with less than 1 GiB', 1000 * gib, 0.9 * gib, false],
  ['a small disk with more than a twentieth', 4 * gib, 0.3 * gib, true],
  ['a small disk with less than a twentieth', 4 * gib, 0.1 * gib, false],
  ['a full disk', gib, 0, false],
])('%s', (_name, bytes, freeBytes, expected) => {
  expect(hasRoom(disk(bytes, freeBytes))).toBe(expected)
})
