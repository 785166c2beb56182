import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tapStream } from './tap.ts'

const chunks = (count: number) => Array.from({ length: count }, (_, at) => Buffer.alloc(64 * 1024, at))
const ignore = () => {}

test('the bytes and their order stay, and each chunk is seen once, before it is read', async () => {
  const seen: Buffer[] = []
  const tapped = tapStream(Readable.from(chunks(50)), { observe: (chunk) => void seen.push(chunk as Buffer) })
  const all = Buffer.concat(chunks(50))
  expect((await buffer(tapped)).equals(all)).toBe(true)
  expect(Buffer.concat(seen).equals(all)).toBe(true)
})

test('nothing is read before the reader wants it, and then little more than it takes', async () => {
  let made = 0
  const source = new Readable({ read: () => void source.push(made++ < 1_000 ? Buffer.alloc(64 * 1024) : null) })
  const tapped = tapStream(source, { observe: ignore })
  await turn()
  expect(made).toBe(0)
  tapped.once('readable', ignore)
  for (let at = 0; at < 20; at++) await turn()
  expect(made).toBeGreaterThan(0)
  expect(made).toBeLessThan(20)
  expect((await buffer(tapped)).length).toBe(1_000 * 64 * 1024)
})

test.each([
  ['before the first chunk', 0],
  ['after some chunks', 3],
])('an error of the source %s is the error of the tap', async (_, count) => {
  const source = Readable.from(
    (function* () {
      yield* chunks(count)
      throw new Error('the client left')
    })(),
  )
  await expect(buffer(tapStream(source, { observe: ignore }))).rejects.toThrow('the client left')
})

test('a source that closes too early, or has closed already, is an error', async () => {
  const early = new PassThrough()
  early.write('some')
  const reading = buffer(tapStream(early, { observe: ignore }))
  setImmediate(() => early.destroy())
  await expect(reading).rejects.toThrow('Premature close')
  await expect(buffer(tapStream(early, { observe: ignore }))).rejects.toThrow('Premature close')
})

test.each([true, false])(
  'an error of the observer ends the tap, and keepSource %j decides about the source',
  async (keepSource) => {
    const source = Readable.from(chunks(9))
    const observe = () => {
      throw new Error('no room')
    }
    await expect(buffer(tapStream(source, { observe, keepSource }))).rejects.toThrow('no room')
    expect(source.destroyed).toBe(!keepSource)
    if (!keepSource) return
    // What was not read is still there.
    expect((await buffer(source)).length).toBeGreaterThan(6 * 64 * 1024)
  },
)
