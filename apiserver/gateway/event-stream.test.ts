import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { EventStream } from './event-stream.ts'

/** Data in capitals; "secret" is left out. */
const rewrite = (data: Uint8Array) => {
  const text = Buffer.from(data).toString()
  return text === 'secret' ? undefined : Buffer.from(text.toUpperCase())
}

async function passThrough(chunks: Buffer[]): Promise<string> {
  const parts = await Readable.from(chunks).pipe(new EventStream(rewrite)).toArray()
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
    const stream = new EventStream(rewrite)
    stream.write('data: a\ndata: {"mo')
    expect(String(stream.read())).toBe('data: A\n')
  })

  test('keeps a last line without an end', async () => {
    expect(await passThrough([Buffer.from('data: a\n\ndata: b')])).toBe('data: A\n\ndata: B')
  })

  test('loses nothing behind data that was left out but the line that ends it', async () => {
    expect(await passThrough([Buffer.from('data: secret\ndata: a\n\n\n')])).toBe('data: A\n\n\n')
  })
})
