import { describe, expect, test } from 'vitest'
import { ChatMeter } from './chat-meter.ts'
import { EventStream } from './event-stream.ts'

const names = { engineName: '0192', requestedName: 'team/proj/agent' }
const piece = (model: string) => `{"id":"é","model":"${model}","choices":[{"delta":{"content":"\\"model\\":"}}]}`
const [written, read] = [piece('0192'), piece('team/proj/agent')]
const usage = '{"model":"0192","choices":[],"usage":{"prompt_tokens":7,"total_tokens":9,"completion_tokens":2}}'

/** Counts the memory of an incomplete long line. */
const createAccount = () => ({
  bytes: 0,
  add(bytes: number) {
    this.bytes += bytes
  },
  drop(bytes: number) {
    this.bytes -= bytes
  },
})
const openStream = (account = createAccount(), meter = new ChatMeter(true)) => new EventStream(names, meter, account)

function passThrough(chunks: Buffer[], meter?: ChatMeter): string {
  const stream = openStream(createAccount(), meter)
  return Buffer.concat([...chunks.map((chunk) => stream.pass(chunk).join()), stream.end().join()]).toString()
}

const received = `data: ${written}\n\n: ping\n\ndata:${written}\r\n\r\nid: x\ndata: ${usage}\n\ndata: ${usage}\r\n\r\nevent: y\ndata: [DONE]\n\n`
const passed = `data: ${read}\n\n: ping\n\ndata:${read}\r\n\r\nid: x\nevent: y\ndata: [DONE]\n\n`

describe('a stream of events', () => {
  test.each([1, 2, 7, 64, 10_000])(
    "gets the client's name of the model and loses its usage, in chunks of %i bytes",
    (size) => {
      const bytes = Buffer.from(received)
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, at * size + size),
      )
      const meter = new ChatMeter(true)
      expect(passThrough(chunks, meter)).toBe(passed)
      expect(meter.tokens).toEqual({ promptTokens: 7, completionTokens: 2 })
    },
  )

  test('is passed on as soon as a line is complete', () => {
    expect(String(openStream().pass(Buffer.from('data: a\ndata: {"mo')).join())).toBe('data: a\n')
  })

  test.each([
    ['with spaces', '{"id": "c", "model": "0192"}', '{"id": "c","model":"team/proj/agent"}'],
    ['in an error', '{"error":{"message":"no 0192"}}', '{"error":{"message":"no team/proj/agent"}}'],
    ['of another model', '{"model":"01921","choices":[]}', '{"choices":[],"model":"team/proj/agent"}'],
  ])("gets the client's name of the model also in an unusual place: %s", (_, data, changed) => {
    expect(passThrough([Buffer.from(`data: ${data}\n\n`)])).toBe(`data: ${changed}\n\n`)
  })

  test('keeps a last line without an end', () => {
    expect(passThrough([Buffer.from('data: a\n\ndata: b')])).toBe('data: a\n\ndata: b')
  })

  test('loses only the data that is left out and the empty line after it', () => {
    expect(passThrough([Buffer.from(`data: ${usage}\ndata: a\n\n\n`)])).toBe('data: a\n\n\n')
  })

  test('knows whether an event has ended', () => {
    const stream = openStream()
    const states = ['data: a\n', '\n', `data: ${usage}\n`, '\n', ': ping\n\n'].map((line) => {
      stream.pass(Buffer.from(line))
      return stream.isWithinEvent
    })
    expect(states).toEqual([true, false, false, false, false])
  })

  test('counts the memory of an incomplete line beyond its first 64 KiB', () => {
    const held = createAccount()
    const stream = openStream(held)
    const begin = Buffer.from(`data: a\ndata: {"mo${'x'.repeat(70_000)}`)
    stream.pass(begin)
    expect(held.bytes).toBe(begin.length - 'data: a\n'.length - 64 * 1024)
    stream.pass(Buffer.from('del"}\n'))
    expect(held.bytes).toBe(0)
  })

  test('fails when a line never ends, and when there is no memory for a long line', () => {
    const chunks = Array.from({ length: 17 }, () => Buffer.alloc(1024 * 1024, 'a'))
    expect(() => passThrough(chunks)).toThrow('longer than 16777216 bytes')
    const full = new Error('no room')
    const fail = () => {
      throw full
    }
    const pass = (bytes: number) => openStream({ ...createAccount(), add: fail }).pass(Buffer.alloc(bytes, 'a'))
    expect(pass(60_000)).toHaveLength(0)
    expect(() => pass(70_000)).toThrow(full)
  })
})
