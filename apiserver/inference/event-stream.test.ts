import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { EventStream } from './event-stream.ts'

/** Data in capitals; "secret" is left out. */
const rewrite = (data: Uint8Array) => {
  const text = Buffer.from(data).toString()
  return text === 'secret' ? undefined : Buffer.from(text.toUpperCase())
}

/** Counts what waits for the end of a long line. */
const createAccount = () => ({
  bytes: 0,
  add(bytes: number) {
    this.bytes += bytes
  },
  drop(bytes: number) {
    this.bytes -= bytes
  },
})
const openStream = (account = createAccount()) => new EventStream(rewrite, account)

async function passThrough(chunks: Buffer[]): Promise<string> {
  const parts = await Readable.from(chunks).pipe(openStream()).toArray()
  return Buffer.concat(parts as Buffer[]).toString()
}

const received = 'data: é a\n\n: ping\n\ndata:b\r\n\r\nid: x\ndata: secret\n\ndata: secret\r\n\r\nevent: y\ndata: c\n\n'
const passed = 'data: É A\n\n: ping\n\ndata:B\r\n\r\nid: x\nevent: y\ndata: C\n\n'

describe('a stream of events', () => {
  test.each([1, 2, 7, 64, 10_000])('has its data rewritten, or left out, in chunks of %i bytes', async (size) => {
    const bytes = Buffer.from(received)
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, at * size + size),
    )
    expect(await passThrough(chunks)).toBe(passed)
  })

  test('is passed on as soon as a line is complete', () => {
    const stream = openStream()
    stream.write('data: a\ndata: {"mo')
    expect(String(stream.read())).toBe('data: A\n')
  })

  test('keeps a last line without an end', async () => {
    expect(await passThrough([Buffer.from('data: a\n\ndata: b')])).toBe('data: A\n\ndata: B')
  })

  test('loses nothing behind data that was left out but the line that ends it', async () => {
    expect(await passThrough([Buffer.from('data: secret\ndata: a\n\n\n')])).toBe('data: A\n\n\n')
  })

  test('counts what waits for the end of a long line, beyond its first 64 KiB', () => {
    const held = createAccount()
    const stream = openStream(held)
    const begin = Buffer.from(`data: a\ndata: {"mo${'x'.repeat(70_000)}`)
    stream.write(begin)
    expect(held.bytes).toBe(begin.length - 'data: a\n'.length - 64 * 1024)
    stream.write('del"}\n')
    expect(held.bytes).toBe(0)
  })

  test('ends when a line never does, and when there is no memory for a long one', async () => {
    const chunks = Array.from({ length: 17 }, () => Buffer.alloc(1024 * 1024, 'a'))
    await expect(passThrough(chunks)).rejects.toThrow('longer than 16777216 bytes')
    const full = new Error('no room')
    const fail = () => {
      throw full
    }
    const pass = async (bytes: number) => {
      const stream = new EventStream(rewrite, { ...createAccount(), add: fail })
      const [chunk] = await Readable.from([Buffer.alloc(bytes, 'a')])
        .compose(stream)
        .toArray()
      return (chunk as Buffer).length
    }
    expect(await pass(60_000)).toBe(60_000)
    await expect(pass(70_000)).rejects.toThrow(full)
  })
})
