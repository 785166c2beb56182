import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { useApiServer } from '../support/api-server.ts'
import { type Export, Exporter, json, requestOf, spanOf } from '../support/exporter.ts'
import { encodeOtlp, toAttributes } from '../support/otlp.ts'
import { useStack } from '../support/stack.ts'

const exporter = new Exporter(useApiServer(useStack()))
const limitBytes = 32 * 1024 * 1024

describe('a request is refused', () => {
  const span = encodeOtlp(requestOf(spanOf()))

  test.each<[string, number, Export]>([
    ['in another form', 415, { body: span, type: 'text/plain' }],
    ['compressed in another way', 415, { body: span, headers: { 'content-encoding': 'br' } }],
    ['compressed twice', 415, { body: span, headers: { 'content-encoding': 'gzip, gzip' } }],
    ['when it is no gzip', 400, { body: span, headers: { 'content-encoding': 'gzip' } }],
    [
      'when its gzip ends early',
      400,
      { body: gzipSync(span).subarray(0, 20), headers: { 'content-encoding': 'gzip' } },
    ],
    ['when it is no protobuf', 400, { body: Buffer.from('\x0a\x7f{}') }],
    ['when it is no JSON', 400, { body: '{"resourceSpans": [', type: json }],
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

/** Millions of empty parts, two bytes each, within other messages. */
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

test.each<[string, number, number, number[]]>([
  ['resources', 413, 0x0a, []],
  ['scopes', 413, 0x12, [0x0a]],
  ['spans', 413, 0x12, [0x12, 0x0a]],
  ['attributes', 200, 0x4a, [0x12, 0x12, 0x0a]],
  ['items', 200, 0x0a, [0x2a, 0x12, 0x4a, 0x12, 0x12, 0x0a]],
])('millions of empty %s are not gone through', async (_, status, tag, around) => {
  const answer = await exporter.post({ body: buildBomb(tag, around), headers: { 'content-encoding': 'gzip' } })
  expect(answer.status).toBe(status)
  if (status === 200) expect(answer.body.toString()).toContain('Rejected a span: a list is too long')
})
