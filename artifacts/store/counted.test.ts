import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { countBytes } from './counted.ts'

test('many bytes are digested in parts, so that other work can run', async () => {
  const bytes = Buffer.alloc(5_000_000, 'abc')
  const { stream, finish } = countBytes(bytes)
  const parts: Buffer[] = []
  for await (const part of stream as AsyncIterable<Buffer>) parts.push(part)
  expect(Buffer.concat(parts).equals(bytes)).toBe(true)
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(1024 * 1024)
  expect(finish()).toEqual({ digest: createHash('sha256').update(bytes).digest('hex'), size: bytes.length })
})
