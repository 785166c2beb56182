import { expect, test } from 'vitest'
import { IncomingBytes } from './incoming-bytes.ts'
import { KnownUse } from './storage-meter.ts'

const openOf = (use: KnownUse, announced = 0) =>
  new IncomingBytes({ entity: 'team', limit: 100, use, beside: 0, announced })

test('concurrent bodies count together, with the bytes that were stored since they began', () => {
  const use = new KnownUse()
  const [first, second] = [openOf(use, 40), openOf(use)]
  second.add(60)
  expect(() => second.add(1)).toThrow('team stores 100 bytes. Its limit stored_bytes is 100')
  first.add(30)
  first.keep()
  first.release()
  second.add(10)
  expect(() => second.add(1)).toThrow('Its limit stored_bytes')
  second.release()
  expect([use.stored, use.incoming]).toEqual([30, 0])
})

test('an announced length counts at once, and bytes beyond it as they arrive', () => {
  const use = new KnownUse()
  const body = openOf(use, 90)
  expect(use.incoming).toBe(90)
  body.add(90)
  body.add(10)
  expect(() => body.add(1)).toThrow('Its limit stored_bytes')
  expect(() => openOf(use, 1)).toThrow('Its limit stored_bytes')
  body.release()
  expect([use.stored, use.incoming]).toEqual([0, 0])
})

test('bytes that can no longer be rejected count without an error', () => {
  const use = new KnownUse()
  const call = openOf(use, 90)
  call.add(80)
  call.keep()
  call.count(30)
  expect([use.stored, use.incoming]).toEqual([80, 30])
  call.keep()
  call.release()
  expect([use.stored, use.incoming]).toEqual([110, 0])
})
