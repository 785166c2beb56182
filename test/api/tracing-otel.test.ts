import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { addKey, useApiServer } from '../support/api-server.ts'
import { type Export, Exporter, json, protobuf, requestOf, resourceOf, spanOf } from '../support/exporter.ts'
import { encodeOtlp, type OtlpRequest, type OtlpSpan, toAttributes } from '../support/otlp.ts'
import { createTraceClient } from '../support/trace-client.ts'

const own = useApiServer()
const exporter = new Exporter(own)
const bare = Buffer.alloc(0)

/** Reads where these calls are, and some of their members. */
async function readCalls(...spans: OtlpSpan[]): Promise<Record<string, unknown>[]> {
  const { rows } = await own.database.pool.query<Record<string, unknown>>(
    `SELECT p.entity || '/' || p.name AS project, c.id, c.op_name, c.inputs, c.output, c.exception, c.wb_run_id, c.ended_at
     FROM tracing.calls c JOIN tracing.projects p ON p.number = c.project WHERE c.id = ANY($1) ORDER BY p.name, c.id`,
    [spans.map(({ spanId }) => spanId)],
  )
  return rows
}

describe('an export', () => {
  const encodings: [string, (bytes: Buffer) => Buffer, Record<string, string>][] = [
    ['plain', (bytes) => bytes, {}],
    ['in gzip', gzipSync, { 'content-encoding': 'gzip' }],
    ['in deflate', deflateSync, { 'content-encoding': 'deflate' }],
    ['in deflate without its header', deflateRawSync, { 'content-encoding': 'deflate' }],
  ]

  test.each(encodings)('%s is stored, in both forms', async (_, compress, headers) => {
    const spans = [
      spanOf({ attributes: toAttributes({ input: 'hi' }) }),
      spanOf({ attributes: toAttributes({ input: 'hi' }) }),
    ]
    const asProtobuf = { body: compress(encodeOtlp(requestOf(spans[0]!))), headers }
    const asJson = { body: compress(Buffer.from(JSON.stringify(requestOf(spans[1]!)))), headers, type: json }
    expect(await exporter.post(asProtobuf)).toEqual({ status: 200, type: protobuf, body: bare })
    expect(await exporter.ask(asJson)).toEqual({ status: 200, body: {} })
    const calls = await readCalls(...spans)
    expect(calls).toHaveLength(2)
    for (const call of calls)
      expect(call).toMatchObject({ project: 'team/p', op_name: 'chat', inputs: { input: 'hi' } })
  })

  test.each([
    '/otel/v1/traces',
    '/otel/v1/trace',
    '/agents/otel/v1/traces',
    '/traces/otel/v1/traces',
    '/traces/otel/v1/trace',
    '/traces/agents/otel/v1/traces',
  ])('goes to %s', async (path) => {
    const span = spanOf()
    expect(await exporter.post({ path, body: encodeOtlp(requestOf(span)) })).toMatchObject({ status: 200 })
    expect(await readCalls(span)).toMatchObject([{ project: 'team/p' }])
  })

  test('that is repeated creates no second call, and the later one counts', async () => {
    const span = spanOf({ name: 'first' })
    await exporter.post({ body: encodeOtlp(requestOf(span, span)) })
    await exporter.post({ body: encodeOtlp(requestOf({ ...span, name: 'second' })) })
    expect(await readCalls(span)).toMatchObject([{ op_name: 'second' }])
  })

  test('is found by the name of an op, as calls of published ops are', async () => {
    const [small, large] = [spanOf({ name: 'plan a/b' }), spanOf({ name: 'plan a/b' })]
    large.attributes = toAttributes({ input: 'x'.repeat(300 * 1024) })
    const other = spanOf({ name: 'plan a/b', traceId: small.traceId! })
    const key = await exporter.key()
    const client = createTraceClient(own.server.url, key)
    await exporter.post({ body: encodeOtlp(requestOf(small, large)) })
    await client.call('/call/start', {
      start: {
        project_id: 'team/p',
        id: `no-${other.spanId}`,
        trace_id: other.traceId,
        op_name: 'plan a/b',
        started_at: '2026-11-21T10:00:00Z',
        attributes: {},
        inputs: {},
      },
    })
    const find = async (...op_names: string[]) =>
      (await client.call<{ id: string }[]>('/calls/stream_query', { project_id: 'team/p', filter: { op_names } })).map(
        ({ id }) => id,
      )
    const ids = [small.spanId!, large.spanId!].toSorted()
    expect((await find('weave:///team/p/op/plan%20a%2Fb:*')).toSorted()).toEqual(ids)
    expect((await find('weave:///team/p/op/plan a/b:*', 'weave:///team/p/op/x:*')).toSorted()).toEqual(ids)
    expect(await find('weave:///team/p/op/plan:*', 'weave:///team/p/op/%zz:*')).toEqual([])
    expect(await find('weave:///team/p/object/plan a/b:*')).toEqual([])
  })

  test('without spans is accepted', async () => {
    expect(await exporter.post({ body: bare })).toEqual({ status: 200, type: protobuf, body: bare })
    expect(await exporter.ask({ type: json, body: '{}', headers: { project_id: '' } })).toEqual({
      status: 200,
      body: {},
    })
  })

  test('may have the key in the headers of exporters, and a run', async () => {
    const span = spanOf()
    const headers = { authorization: '', 'wandb-api-key': await exporter.key(), wb_run_id: 'team/p/run' }
    expect(await exporter.post({ body: encodeOtlp(requestOf(span)), headers })).toMatchObject({ status: 200 })
    expect(await readCalls(span)).toMatchObject([{ wb_run_id: 'team/p/run' }])
  })

  test('with several thousand spans is stored completely', async () => {
    const spans = Array.from({ length: 3_000 }, () => spanOf())
    expect(await exporter.post({ body: encodeOtlp(requestOf(...spans)) })).toMatchObject({ status: 200, body: bare })
    expect(await readCalls(...spans)).toHaveLength(3_000)
  })
})

describe('the project', () => {
  test('is that of each resource, unless the header names one', async () => {
    const spans = [spanOf(), spanOf(), spanOf()]
    const [first, second, third] = spans as [OtlpSpan, OtlpSpan, OtlpSpan]
    const resources = [resourceOf('team', 'a', first), resourceOf('team', 'b', second), resourceOf('team', 'a', third)]
    const body = encodeOtlp({ resourceSpans: resources })
    expect(await exporter.post({ body, headers: { project_id: '' } })).toMatchObject({ status: 200 })
    const projects = (await readCalls(...spans)).map(({ project }) => project)
    expect(projects).toEqual(['team/a', 'team/a', 'team/b'])
    await exporter.post({ body, headers: { project_id: 'team/c' } })
    expect((await readCalls(second)).map(({ project }) => project)).toEqual(['team/b', 'team/c'])
  })

  test.each<[string, number, Partial<Export> & { body?: never }, OtlpRequest['resourceSpans'][0] | undefined]>([
    ['that is missing', 400, { headers: { project_id: '' } }, { scopeSpans: [{ spans: [spanOf()] }] }],
    ['that is invalid', 400, { headers: { project_id: 'team' } }, undefined],
    ['of another entity in the header', 403, { headers: { project_id: 'others/p' } }, undefined],
    ['of another entity in a resource', 403, { headers: { project_id: '' } }, resourceOf('others', 'p', spanOf())],
  ])('%s is a %i, and nothing is stored', async (_, status, sent, resource) => {
    const span = spanOf()
    const body = encodeOtlp({ resourceSpans: [resourceOf('team', 'p', span), ...(resource ? [resource] : [])] })
    expect(await exporter.ask({ ...sent, body })).toEqual({ status, body: { reason: expect.any(String) as string } })
    expect(await readCalls(span)).toEqual([])
  })

  test('may be one of at most a hundred in a request', async () => {
    const resourceSpans = Array.from({ length: 101 }, (_, index) => resourceOf('team', `p${index}`, spanOf()))
    const sent = { body: encodeOtlp({ resourceSpans }), headers: { project_id: '' } }
    expect(await exporter.ask(sent)).toMatchObject({ status: 400 })
  })

  test('is written only by keys that may write', async () => {
    const reader = await addKey(own.database.pool, 'team', 'read')
    const body = encodeOtlp(requestOf(spanOf()))
    expect(await exporter.post({ body, headers: { authorization: `Bearer ${reader}` } })).toMatchObject({ status: 403 })
    expect(await exporter.post({ body, headers: { authorization: '' } })).toMatchObject({ status: 401 })
  })
})

describe('a span', () => {
  const conflict = toAttributes({ a: 1n, 'a.b': 2n })

  test('that is rejected does not affect the others', async () => {
    const [good, bad] = [spanOf(), spanOf({ attributes: conflict })]
    const { status, body } = await exporter.ask({
      type: json,
      body: JSON.stringify(requestOf(bad, good, spanOf({ spanId: '' }))),
    })
    const { rejected_spans, error_message } = body['partial_success'] as Record<string, unknown>
    expect({ status, rejected_spans }).toEqual({ status: 200, rejected_spans: 2 })
    expect(error_message).toMatch(
      new RegExp(
        `^Rejected span \\(name='chat' trace_id='${bad.traceId}' span_id='${bad.spanId}'\\): attribute 'a.b' .*; Rejected`,
      ),
    )
    const answer = await exporter.post({ body: encodeOtlp(requestOf(bad, good)) })
    expect(answer).toMatchObject({ status: 200, type: protobuf })
    expect(answer.body.includes('\x08\x01\x12')).toBe(true)
    expect(await readCalls(good, bad)).toMatchObject([{ id: good.spanId }])
  })

  test('may contain any values', async () => {
    const hostile = 'a\0b\u0085\u2028𝒳'
    const values = {
      'output.value': `{"n": 1e400, "i": ${'9'.repeat(400)}, "t": "\\u0000\\ud800"}`,
      [hostile]: hostile,
    }
    const attributes = [...toAttributes(values), ...toAttributes({ input: Number.NaN, 'input.bytes': true })]
    const span = spanOf({
      name: `${hostile}${'/long'.repeat(10_000)}`,
      traceState: hostile,
      attributes: attributes.slice(0, 2),
    })
    const others = [
      spanOf({ attributes: toAttributes({ inputs: hostile }) }),
      spanOf({ attributes: toAttributes({ inputs: Infinity }) }),
    ]
    expect(await exporter.post({ body: encodeOtlp(requestOf(span, ...others)) })).toEqual({
      status: 200,
      type: protobuf,
      body: bare,
    })
    const [call] = await readCalls(span)
    expect(call).toMatchObject({ op_name: expect.stringMatching(/^a\uFFFDb[^]*:[0-9a-f]{4}$/u) as string })
    const { rows } = await own.database.pool.query(
      'SELECT output::text, otel_dump::text FROM tracing.calls WHERE id = $1',
      [span.spanId],
    )
    expect(rows[0]).toMatchObject({ output: `{"output.value":{"n":1e400,"i":${'9'.repeat(400)},"t":"\uFFFD\uFFFD"}}` })
    expect(await readCalls(others[0]!)).toMatchObject([{ inputs: { inputs: 'a\uFFFDb\u0085\u2028𝒳' } }])
    expect(await readCalls(others[1]!)).toMatchObject([{ inputs: {} }])
  })

  test('in JSON may contain lone surrogates', async () => {
    const span = spanOf({ name: 'x' })
    const body = JSON.stringify(requestOf(span)).replace('"x"', String.raw`"x\ud800\u0000"`)
    expect(await exporter.ask({ type: json, body })).toEqual({ status: 200, body: {} })
    expect(await readCalls(span)).toMatchObject([{ op_name: 'x\uFFFD\uFFFD' }])
  })
})
