import { expect, test } from 'vitest'
import { toAttributes } from '../../../test/support/otlp.ts'
import type { JsonText } from '../../../lib/json/json-text.ts'
import { readJsonAttribute } from './any-value.ts'
import { parseValue } from '../../../lib/json/value.ts'
import { createCall } from './span-call.ts'
import { spanMessage, type Span } from './span.ts'

type Plain = Parameters<typeof toAttributes>[0]

const context = { projectId: 'e/p', resource: '{"attributes":{}}', wbUserId: 'u', wbRunId: undefined }

function callOf(values: Plain, span: Partial<Span> = {}, around: Partial<typeof context> & object = {}) {
  const attributes = toAttributes(values).map((item) => readJsonAttribute(parseValue(JSON.stringify(item))))
  const whole = {
    ...spanMessage.empty(),
    traceId: 'aa',
    spanId: 'bb',
    name: 'op',
    endTimeUnixNano: 1n,
    attributes,
    ...span,
  }
  const { id, start, end } = createCall(whole, { ...context, ...around })
  return { id, start: start!, end: end! }
}

const plain = (text: JsonText | null | undefined): unknown => JSON.parse(String(text))

test('a span becomes a whole call', () => {
  const startTimeUnixNano = 1769860800123456789n
  const span: Partial<Span> = {
    parentSpanId: 'cc',
    kind: 'CLIENT',
    traceState: 's',
    startTimeUnixNano,
    endTimeUnixNano: 1769860801000000000n,
    status: { code: 'OK', message: 'fine' },
    events: [{ timeUnixNano: startTimeUnixNano, name: 'e', attributes: [], droppedAttributesCount: 1 }],
    links: [{ traceId: 'dd', spanId: 'ee', traceState: '', attributes: [], droppedAttributesCount: 0, flags: 1 }],
  }
  const { id, start, end } = callOf({ 'input.value': 'hi', 'output.value': '{"text": "ho"}', 'llm.system': 'x' }, span)
  const { attributes, inputs, otelDump, ...rest } = start
  expect(id).toBe('bb')
  expect(rest).toEqual({
    traceId: 'aa',
    opName: 'op',
    displayName: undefined,
    parentId: 'cc',
    threadId: undefined,
    turnId: undefined,
    startedAt: '2026-01-31T12:00:00.123456Z',
    wbUserId: 'u',
    wbRunId: undefined,
    wbRunStep: undefined,
  })
  expect([plain(attributes), plain(inputs)]).toEqual([{ system: 'x' }, { 'input.value': 'hi' }])
  expect(String(otelDump)).toContain('"timestamp":1769860800123456789')
  expect(plain(otelDump)).toEqual({
    name: 'op',
    context: { trace_id: 'aa', span_id: 'bb', trace_state: 's' },
    kind: 'CLIENT',
    parent_id: 'cc',
    start_time: '2026-01-31T12:00:00.123456Z',
    end_time: '2026-01-31T12:00:01.000000Z',
    status: { code: 'OK', message: 'fine' },
    attributes: { input: { value: 'hi' }, output: { value: { text: 'ho' } }, llm: { system: 'x' } },
    events: [{ name: 'e', timestamp: Number(startTimeUnixNano), attributes: {}, dropped_attributes_count: 1 }],
    links: [{ trace_id: 'dd', span_id: 'ee', trace_state: '', attributes: {}, dropped_attributes_count: 0, flags: 1 }],
    resource: { attributes: {} },
  })
  expect({ ...end, output: plain(end.output), summary: plain(end.summary) }).toEqual({
    endedAt: '2026-01-31T12:00:01.000000Z',
    output: { 'output.value': { text: 'ho' } },
    exception: null,
    summary: {},
    wbRunStepEnd: undefined,
  })
})

function tokens(known: Record<string, number>) {
  const none = { prompt_tokens: null, input_tokens: null, completion_tokens: null, output_tokens: null }
  return { ...none, requests: null, total_tokens: null, ...known }
}

test.each<[string, Plain, unknown]>([
  ['the first key counts', { 'input.value': 'b', 'gen_ai.prompt': 'a' }, { 'gen_ai.prompt': 'a' }],
  ['an empty value does not count', { 'gen_ai.prompt': '', 'input.value': 'b' }, { 'input.value': 'b' }],
  ['zero does not count', { 'gen_ai.prompt': 0n, 'ai.prompt': -0, inputs: false }, {}],
  [
    'messages are a list',
    { 'gen_ai.prompt.0.role': 'user', 'gen_ai.prompt.0.content': 'a' },
    { 'gen_ai.prompt': [{ role: 'user', content: 'a' }] },
  ],
  ['an object under inputs is the inputs', { inputs: '{"a": 1}' }, { a: 1 }],
  ['an object of dotted keys under inputs is the inputs', { 'input.a': 1n, 'input.b': 'x' }, { a: 1, b: 'x' }],
  ['a list is not', { input: '[1]' }, { input: [1] }],
])('inputs: %s', (_, values, expected) => {
  expect(plain(callOf(values).start.inputs)).toEqual(expected)
})

test('numbers keep their digits', () => {
  const values = { 'input.a': 9223372036854775807n, 'input.b': '{"n": 1.0, "m": 1e400}' }
  expect(String(callOf(values).start.inputs)).toBe('{"a":9223372036854775807,"b":{"n":1.0,"m":1e400}}')
})

test.each<[string, Plain, unknown]>([
  ['the first key counts', { output: 'b', 'gen_ai.completion': 'a' }, { 'gen_ai.completion': 'a' }],
  ['the value under outputs is the output', { outputs: 'text' }, 'text'],
  ['lists too', { 'output.0': 'a', 'output.1': 'b' }, ['a', 'b']],
  ['a missing output is an empty object', {}, {}],
])('output: %s', (_, values, expected) => {
  expect(plain(callOf(values).end.output)).toEqual(expected)
})

test.each<[string, Plain, unknown]>([
  [
    'prompt and completion',
    { 'llm.token_count.prompt': 1n, 'ai.usage.completionTokens': '2' },
    { usage: tokens({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }) },
  ],
  [
    'input and output',
    { 'gen_ai.usage.input_tokens': 1n, 'gen_ai.usage.output_tokens': 2.7 },
    { usage: tokens({ input_tokens: 1, output_tokens: 2, total_tokens: 3 }) },
  ],
  [
    'a separate total',
    { 'gen_ai.usage.prompt_tokens': 1n, 'gen_ai.usage.completion_tokens': 2n, 'llm.token_count.total': 9n },
    { usage: tokens({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 9 }) },
  ],
  ['no number', { 'gen_ai.usage.prompt_tokens': 'many' }, { usage: tokens({}) }],
  [
    'under the answering model',
    { 'gen_ai.response.model': 'm', 'gen_ai.request.model': 'n', 'gen_ai.usage.total_tokens': 4n },
    { m: tokens({ total_tokens: 4 }) },
  ],
  [
    'under the requested model',
    { 'gen_ai.request.model': 'n', 'ai.usage.inputTokens': 1n, 'ai.usage.outputTokens': 2n },
    { n: tokens({ input_tokens: 1, output_tokens: 2, total_tokens: 3 }) },
  ],
  [
    'names of prototypes',
    { 'ai.model.id': '__proto__', 'llm.token_count.total': 4n },
    JSON.parse(`{"__proto__":${JSON.stringify(tokens({ total_tokens: 4 }))}}`),
  ],
])('usage: %s', (_, values, expected) => {
  expect(plain(callOf(values).end.summary)).toEqual({ usage: expected })
})

test.each<[string, Plain]>([
  ['nothing', {}],
  ['a model', { 'gen_ai.request.model': 'm' }],
  ['no tokens', { 'gen_ai.usage.input_tokens': 0n, 'gen_ai.response.model': 'm' }],
])('a span that reports %s has no usage', (_, values) => {
  expect(plain(callOf(values).end.summary)).toEqual({})
})

const messages = '[{"role": "user", "parts": []}]'

test.each<[string, Plain, unknown, unknown]>([
  [
    'messages with instructions',
    { 'gen_ai.system_instructions': '[1]', 'gen_ai.input.messages': messages, 'gen_ai.output.messages': messages },
    { 'gen_ai.system_instructions': [1], 'gen_ai.input.messages': [{ role: 'user', parts: [] }] },
    { 'gen_ai.output.messages': [{ role: 'user', parts: [] }] },
  ],
  [
    "an agent's conversation",
    { 'gen_ai.system_instructions': '[1]', 'pydantic_ai.all_messages': messages, final_result: 'seven' },
    { 'gen_ai.system_instructions': [1], 'pydantic_ai.all_messages': [{ role: 'user', parts: [] }] },
    'seven',
  ],
  ['a tool', { 'gen_ai.tool.call.arguments': '{"a": 1}', 'gen_ai.tool.call.result': '[2]' }, { a: 1 }, [2]],
  ['arguments without names', { 'gen_ai.tool.call.arguments': 'a' }, { 'gen_ai.tool.call.arguments': 'a' }, {}],
  ['an older tool', { tool_arguments: '{"a": 1}', tool_response: 'b' }, { a: 1 }, 'b'],
  ['a tool with a JSON text', { 'ai.toolCall.args': '{"a": 1}', 'ai.toolCall.result': '"b"' }, { a: 1 }, 'b'],
  ['a tool with a quotation', { 'ai.toolCall.args': '{"a": 1}', 'ai.toolCall.result': '"b" c' }, { a: 1 }, '"b" c'],
  [
    'keys of production come first',
    { 'input.value': 'a', 'gen_ai.input.messages': messages },
    { 'input.value': 'a' },
    {},
  ],
])('today: %s', (_, values, inputs, output) => {
  const { start, end } = callOf(values)
  expect([plain(start.inputs), plain(end.output)]).toEqual([inputs, output])
})

const eventOf = (name: string, attributes: Span['attributes']) => ({
  timeUnixNano: 1n,
  name,
  attributes,
  droppedAttributesCount: 0,
})

test('messages in events become inputs and output, unless the span has them', () => {
  const events = [
    eventOf('gen_ai.system.message', [{ key: 'content', value: 'be brief' }]),
    eventOf('gen_ai.user.message', [{ key: 'content', value: '[{"text": "hi"}]' }]),
    eventOf('gen_ai.tool.message', [{ key: 'role', value: 'function' }]),
    eventOf('gen_ai.other.message', []),
    eventOf('gen_ai.choice', [{ key: 'message', value: '{"content": "ho"}' }]),
  ]
  const { start, end } = callOf({}, { events })
  expect([plain(start.inputs), plain(end.output)]).toEqual([
    {
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: [{ text: 'hi' }] },
        { role: 'function' },
      ],
    },
    { choices: [{ message: { content: 'ho' } }] },
  ])
  const own = callOf({ 'gen_ai.input.messages': messages, output: 'x' }, { events })
  expect(plain(own.start.inputs)).toEqual({ 'gen_ai.input.messages': JSON.parse(messages) as unknown })
  expect(plain(own.end.output)).toBe('x')
})

test('messages may be in the event of details', () => {
  const details = ['gen_ai.system_instructions', 'gen_ai.input.messages', 'gen_ai.output.messages']
  const events = [
    eventOf(
      'gen_ai.client.inference.operation.details',
      details.map((key) => ({ key, value: '[1]' })),
    ),
  ]
  const { start, end } = callOf({ 'gen_ai.provider.name': 'p' }, { events })
  expect([plain(start.attributes), plain(start.inputs), plain(end.output)]).toEqual([
    { provider: 'p' },
    { 'gen_ai.system_instructions': [1], 'gen_ai.input.messages': [1] },
    { 'gen_ai.output.messages': [1] },
  ])
})

test.each<[string, Plain, unknown]>([
  [
    'the members of conventions',
    {
      'gen_ai.system': 's',
      'openinference.span.kind': 'LLM',
      'ai.model.id': 'm',
      'ai.model.provider': 'p',
      'gen_ai.request.temperature': 0.5,
      'else.x': 1n,
    },
    { system: 's', kind: 'LLM', model: 'm', provider: 'p', model_parameters: { temperature: 0.5 } },
  ],
  [
    'with those of the author',
    { input: 'x', 'wandb.attributes': '{"a": 1}', 'llm.system': 's' },
    { system: 's', a: 1 },
  ],
  ['those of the author take precedence', { 'wandb.attributes': '{"system": 1}', 'llm.system': 's' }, { system: 1 }],
  [
    'all of a span that follows no convention',
    { 'a.b': 1n, 'wandb.attributes.c': 2n },
    { a: { b: 1 }, wandb: { attributes: { c: 2 } } },
  ],
  ['nothing when there is only an output', { output: 'x' }, {}],
])('attributes: %s', (_, values, expected) => {
  expect(plain(callOf(values).start.attributes)).toEqual(expected)
})

test.each<[string, Plain, Partial<Span>, object]>([
  ['a display name', { 'wandb.display_name': 'd' }, {}, { displayName: 'd' }],
  ['a thread', { 'wandb.thread_id': 't' }, {}, { threadId: 't', turnId: undefined }],
  ['a turn of a thread', { 'wandb.thread_id': 't', 'wandb.is_turn': true }, {}, { threadId: 't', turnId: 'bb' }],
  ['a turn without a thread', { 'wandb.is_turn': true }, {}, { threadId: undefined, turnId: undefined }],
  ['a session', { 'gcp.vertex.agent.session_id': 7n }, {}, { threadId: '7', turnId: 'bb' }],
  ['a conversation', { 'gen_ai.conversation.id': 'c' }, {}, { threadId: 'c', turnId: 'bb' }],
  ['a step of a conversation', { 'session.id': 'c' }, { parentSpanId: 'aa' }, { threadId: 'c', turnId: undefined }],
  [
    'an agent in a conversation',
    { 'ai.telemetry.metadata.sessionId': 'c', 'gen_ai.operation.name': 'invoke_agent' },
    { parentSpanId: 'aa' },
    { threadId: 'c', turnId: 'bb' },
  ],
  [
    'a thread in a conversation',
    { 'session.id': 'c', 'wandb.thread_id': 't' },
    {},
    { threadId: 't', turnId: undefined },
  ],
  ['a conversation with a long id', { 'session.id': 'c'.repeat(257) }, {}, { threadId: undefined, turnId: undefined }],
  ['a run', { 'wandb.wb_run_id': 'r', 'wandb.wb_run_step': 3n }, {}, { wbRunId: 'e/p/r', wbRunStep: 3 }],
  ['a full run id', { 'wandb.wb_run_id': 'e/p/r' }, {}, { wbRunId: 'e/p/r' }],
  ["another project's run", { 'wandb.wb_run_id': 'e/q/r' }, {}, { wbRunId: undefined }],
  ['a step that is too large', { 'wandb.wb_run_step': '9223372036854775807' }, {}, { wbRunStep: undefined }],
  [
    "Langfuse's time",
    { 'langfuse.startTime': '2026-01-31T13:00:00.5+01:00' },
    {},
    { startedAt: '2026-01-31T12:00:00.500000Z' },
  ],
  [
    'a time in nanoseconds',
    { 'langfuse.startTime': 1769860800123456789n },
    {},
    { startedAt: '2026-01-31T12:00:00.123456Z' },
  ],
  ['a time in seconds', { 'langfuse.startTime': 1769860800.5 }, {}, { startedAt: '2026-01-31T12:00:00.500000Z' }],
  ['an invalid time', { 'langfuse.startTime': 'now' }, {}, { startedAt: '1970-01-01T00:00:00.000000Z' }],
  ['a time before the first', { 'langfuse.startTime': -5n }, {}, { startedAt: '1970-01-01T00:00:00.000000Z' }],
  ['the last time', {}, { startTimeUnixNano: 2n ** 64n - 1n }, { startedAt: '2554-07-21T23:34:33.709551Z' }],
])('%s', (_, values, span, expected) => {
  expect(callOf(values, span).start).toMatchObject(expected)
})

test('the run in the header takes precedence over the run in the span', () => {
  const { start } = callOf({ 'wandb.wb_run_id': 'r' }, {}, { wbRunId: 'e/p/h' as never })
  expect(start.wbRunId).toBe('e/p/h')
})

test.each<[string, Span['status'], string | null]>([
  ['an error', { code: 'ERROR', message: 'broken' }, 'broken'],
  ['an error without a message', { code: 'ERROR', message: '' }, 'ERROR'],
  ['no error', { code: 'OK', message: 'fine' }, null],
])('the exception of %s', (_, status, expected) => {
  expect(callOf({}, { status }).end.exception).toBe(expected)
})

test('a span without an end becomes a running call', () => {
  const { start, end } = callOf({ output: 'x' }, { endTimeUnixNano: 0n, startTimeUnixNano: 1_000n })
  expect([start.startedAt, end]).toEqual(['1970-01-01T00:00:00.000001Z', undefined])
  expect(plain(start.otelDump)).toMatchObject({ end_time: null, attributes: { output: 'x' } })
  expect(callOf({ 'langfuse.endTime': 5n }, { endTimeUnixNano: 0n }).end.endedAt).toBe('1970-01-01T00:00:00.000000Z')
})

test.each<[string, Plain]>([
  ['a thread', { 'wandb.thread_id': 't'.repeat(257) }],
  ['a session', { 'gcp.vertex.agent.session_id': 't'.repeat(257) }],
  ['a run', { 'wandb.wb_run_id': 'r'.repeat(253) }],
])('a span with an id of %s that is too long for an index is rejected', (_, values) => {
  expect(() => callOf(values)).toThrow('more than 256 characters')
})

test('texts with too many values stay texts, also in events', () => {
  const text = `[${'1,'.repeat(119_999)}1]`
  const event = { timeUnixNano: 1n, name: 'e', attributes: [{ key: 'c', value: text }], droppedAttributesCount: 0 }
  const { start } = callOf({ a: text, b: text, d: '[2]' }, { events: [event] })
  const { attributes, events } = plain(start.otelDump) as Record<'attributes' | 'events', Record<string, unknown>>
  expect(attributes).toEqual({ a: JSON.parse(text) as unknown, b: text, d: [2] })
  expect(events[0]).toMatchObject({ attributes: { c: text } })
})

test.each<[string, Partial<Span>]>([
  ['without an id', { spanId: '' }],
  ['without a trace', { traceId: '' }],
])('a span %s is rejected', (_, span) => {
  expect(() => callOf({}, span)).toThrow('needs a span_id')
})
