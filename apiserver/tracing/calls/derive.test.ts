import { describe, expect, test } from 'vitest'
import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { deriveSummary, nameOp } from './derive.ts'

const call: StoredCall = {
  id: 'a',
  trace_id: 't',
  op_name: 'weave:///e/p/op/answer:digest',
  started_at: '2026-11-21T10:00:00.000900Z',
  ended_at: '2026-11-21T10:00:01.002000Z',
}

describe('the computed summary of a call', () => {
  test.each<[string, Partial<StoredCall>, object]>([
    ['ended well', {}, { status: 'success', latency_ms: 1001, trace_name: 'answer' }],
    ['still running', { ended_at: null }, { status: 'running', trace_name: 'answer' }],
    [
      'an end before the start',
      { ended_at: '2026-11-21T09:59:59.000100Z' },
      { status: 'success', latency_ms: -1001, trace_name: 'answer' },
    ],
    ['failed', { exception: 'x' }, { status: 'error', latency_ms: 1001, trace_name: 'answer' }],
    ['failed without a message', { exception: '' }, { status: 'error', latency_ms: 1001, trace_name: 'answer' }],
    ['failed before its end', { exception: 'x', ended_at: null }, { status: 'error', trace_name: 'answer' }],
    [
      'with a failed descendant',
      { descendant_errors: true },
      { status: 'descendant_error', latency_ms: 1001, trace_name: 'answer' },
    ],
    ['named', { display_name: 'mine' }, { status: 'success', latency_ms: 1001, display_name: 'mine' }],
  ])('%s', (_, more, expected) => {
    expect(deriveSummary({ ...call, ...more })).toEqual(expected)
  })
})

test.each([
  ['weave:///e/p/op/my.op-1:abc', 'my.op-1'],
  ['weave:///e/p/object/x:abc', 'weave:///e/p/object/x:abc'],
  ['plain', 'plain'],
])('the name of %s is %s', (opName, expected) => {
  expect(nameOp(opName)).toBe(expected)
})
