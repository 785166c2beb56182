import { expect, test } from 'vitest'
import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { presentCall } from './present.ts'

const call: StoredCall = {
  id: 'a',
  trace_id: 't',
  op_name: 'op',
  started_at: '2026-11-21T10:00:00.000000Z',
}

test('payloads keep their text', () => {
  const payloads = { attributes: '{"a": 1.0}', inputs: '{ }', output: '1e400', summary: '{"n":12345678901234567890}' }
  expect(presentCall('e/p', { ...call, ...payloads, parent_id: null })).toBe(
    '{"id":"a","trace_id":"t","op_name":"op","started_at":"2026-11-21T10:00:00.000000Z","parent_id":null,' +
      '"project_id":"e/p","attributes":{"a": 1.0},"inputs":{ },"output":1e400,' +
      '"summary":{"n":12345678901234567890,"weave":{"status":"running","trace_name":"op"}}}',
  )
})

test.each<[string, Partial<StoredCall>, object]>([
  ['unrequested columns', {}, { attributes: {}, inputs: {} }],
  ['payloads that are null', { output: null, inputs: null }, { attributes: {}, inputs: {}, output: null }],
  ['a span', { attributes: '{"a":1}', otel_dump: '{"name":"s"}' }, { attributes: { a: 1, otel_span: { name: 's' } } }],
  ['only a span', { attributes: '{ }', otel_dump: '{"name":"s"}' }, { attributes: { otel_span: { name: 's' } } }],
  ['a summary', { summary: null }, { summary: { weave: { status: 'running', trace_name: 'op' } } }],
  [
    'a summary with computed members',
    { summary: '{"weave": {"status": "odd", "own": 1.0}, "b": 2}' },
    { summary: { weave: { status: 'running', own: 1, trace_name: 'op' }, b: 2 } },
  ],
  [
    'a summary with a text that looks like computed members',
    { summary: String.raw`{"x": "\"weave\""}` },
    { summary: { x: '"weave"', weave: { status: 'running', trace_name: 'op' } } },
  ],
])('presents %s', (_, more, expected) => {
  expect(JSON.parse(presentCall('e/p', { ...call, ...more }))).toEqual({
    ...call,
    project_id: 'e/p',
    attributes: {},
    inputs: {},
    ...expected,
  })
})

test('costs and feedback are in the summary', () => {
  const extras = { costs: { gpt: { requests: 1 } }, feedback: [] }
  const { summary } = JSON.parse(presentCall('e/p', { ...call, summary: '{}' }, extras)) as { summary: object }
  expect(summary).toEqual({ weave: { status: 'running', trace_name: 'op', ...extras } })
})
