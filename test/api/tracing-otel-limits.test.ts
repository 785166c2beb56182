import { randomBytes } from 'node:crypto'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { useApiServerProcess } from '../support/api-server.ts'
import { type Export, Exporter, json, requestOf, spanOf } from '../support/exporter.ts'
import { encodeOtlp, type OtlpSpan, toAttributes } from '../support/otlp.ts'
import { measureWaits } from '../support/measure-waits.ts'

// Hostile requests must fit into this heap, and must not block others.
const own = useApiServerProcess({ NODE_OPTIONS: '--max-old-space-size=384' })
const exporter = new Exporter(own)
// Random text, because indexes compress repeated text.
const noise = randomBytes(2_500).toString('hex')
const limitBytes = 32 * 1024 * 1024

describe('a request is rejected', () => {
  const span = encodeOtlp(requestOf(spanOf()))

  test.each<[string, number, Export]>([
    ['in another form', 415, { body: span, type: 'text/plain' }],
    ['compressed in another way', 415, { body: span, headers: { 'content-encoding': 'br' } }],
    ['compressed twice', 415, { body: span, headers: { 'content-encoding': 'gzip, gzip' } }],
    ['when it is not gzip', 400, { body: span, headers: { 'content-encoding': 'gzip' } }],
    [
      'when its gzip ends early',
      400,
      { body: gzipSync(span).subarray(0, 20), headers: { 'content-encoding': 'gzip' } },
    ],
    ['when it is not protobuf', 400, { body: Buffer.from('\x0a\x7f{}') }],
    ['when it is not JSON', 400, { body: '{"resourceSpans": [', type: json }],
    ['when it is another JSON', 400, { body: '{"resourceSpans": {}}', type: json }],
    ['when it is a list', 400, { body: '[]', type: json }],
    ['when it is too large', 413, { body: Buffer.alloc(limitBytes + 1) }],
    [
      'when gzip makes it too large',
      413,
      { body: gzipSync(Buffer.alloc(limitBytes + 1)), headers: { 'content-encoding': 'gzip' } },
    ],
    [
      'when deflate makes it too large',
      413,
      { body: deflateSync(Buffer.alloc(limitBytes + 1)), headers: { 'content-encoding': 'deflate' } },
    ],
  ])('%s', async (_, status, sent) => {
    expect(await exporter.ask(sent)).toEqual({ status, body: { reason: expect.any(String) as string } })
  })

  test('when its resource would be stored with too many spans', async () => {
    const resource = { attributes: toAttributes({ large: 'x'.repeat(1024 * 1024) }) }
    const spans = Array.from({ length: 300 }, () => spanOf())
    const body = encodeOtlp({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] })
    expect(await exporter.ask({ body })).toEqual({ status: 413, body: { reason: 'Request too large' } })
  })
})

/** Millions of empty parts of two bytes, nested in other messages. */
function buildBomb(tag: number, around: number[]): Buffer {
  const parts = Buffer.alloc(limitBytes - 100)
  for (let at = 0; at < parts.length; at += 2) parts[at] = tag
  const wrap = (inner: Buffer, outer: number) => Buffer.concat([Buffer.from([outer]), writeLength(inner.length), inner])
  return gzipSync(around.reduce(wrap, parts))
}

function writeLength(length: number): Buffer {
  const bytes: number[] = []
  for (; length > 127; length >>>= 7) bytes.push((length & 127) | 128)
  return Buffer.from([...bytes, length])
}

test.each<[string, number, string, number, number[]]>([
  ['resources', 413, 'Request too large', 0x0a, []],
  ['scopes', 413, 'Request too large', 0x12, [0x0a]],
  ['spans', 413, 'Request too large', 0x12, [0x12, 0x0a]],
  ['attributes', 200, 'a list is too long', 0x4a, [0x12, 0x12, 0x0a]],
  ['items', 200, 'too many values', 0x0a, [0x2a, 0x12, 0x4a, 0x12, 0x12, 0x0a]],
])('millions of empty %s are not read', async (_, status, reason, tag, around) => {
  const answer = await exporter.post({ body: buildBomb(tag, around), headers: { 'content-encoding': 'gzip' } })
  expect(answer.status).toBe(status)
  expect(answer.body.toString()).toContain(reason)
})

describe('small requests that take long to parse do not delay others', () => {
  const dotted = (index: number) => `${Array.from({ length: 98 }, (_, part) => `${part}${index}`).join('.')}.x`
  const dottedKeys = () => Object.fromEntries(Array.from({ length: 12_000 }, (_, index) => [dotted(index), 'x']))

  test.each<[string, () => OtlpSpan]>([
    ['a name of many words', () => ({ name: 'a '.repeat(8 * 1024 * 1024) })],
    ['a display name', () => ({ attributes: toAttributes({ 'wandb.display_name': 'a '.repeat(8 * 1024 * 1024) }) })],
    ['dotted keys', () => ({ attributes: toAttributes(dottedKeys()) })],
  ])('%s', async (_, bad) => {
    const body = gzipSync(encodeOtlp(requestOf(spanOf(bad()))))
    const answer = exporter.post({ body, headers: { 'content-encoding': 'gzip' } })
    const wait = await measureWaits(own.server, answer)
    expect((await answer).status).toBe(200)
    expect(wait).toBeLessThan(300)
  })

  test('dotted keys of a resource', async () => {
    const resource = { attributes: toAttributes(dottedKeys()) }
    const body = gzipSync(encodeOtlp({ resourceSpans: [{ resource, scopeSpans: [{ spans: [spanOf()] }] }] }))
    const answer = exporter.post({ body, headers: { 'content-encoding': 'gzip' } })
    expect(await measureWaits(own.server, answer)).toBeLessThan(300)
    expect((await answer).status).toBe(413)
  })
})

describe('a span that cannot be stored', () => {
  const values = `[${'1,'.repeat(1_100_000)}1]`

  test.each<[string, OtlpSpan, RegExp]>([
    [
      'with a long thread id',
      { attributes: toAttributes({ 'wandb.thread_id': noise }) },
      /id of a thread has more than 256/,
    ],
    [
      'with a long session id',
      { attributes: toAttributes({ 'gcp.vertex.agent.session_id': noise }) },
      /id of a thread has more than 256/,
    ],
    ['with a long run id', { attributes: toAttributes({ 'wandb.wb_run_id': noise }) }, /id of a run has more than 256/],
  ])('%s does not affect the others, in both forms', async (_, bad, reason) => {
    const request = () => requestOf(spanOf(bad), spanOf())
    const inJson = await exporter.ask({ type: json, body: JSON.stringify(request()) })
    const reported = { rejected_spans: 1, error_message: expect.stringMatching(reason) as string }
    expect(inJson).toMatchObject({ status: 200, body: { partial_success: reported } })
    const { status, body } = await exporter.post({ body: encodeOtlp(request()) })
    expect([status, body.toString()]).toEqual([200, expect.stringMatching(reason)])
  })

  test('because of its many values is stored with them as a text', async () => {
    const span = spanOf({ attributes: toAttributes({ input: values }) })
    const sent = { body: gzipSync(encodeOtlp(requestOf(span))), headers: { 'content-encoding': 'gzip' } }
    expect(await exporter.post(sent)).toMatchObject({ status: 200, body: Buffer.alloc(0) })
  })
})
