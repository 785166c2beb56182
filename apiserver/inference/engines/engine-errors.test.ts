import { expect, test } from 'vitest'
import { translateEngineError } from './engine-errors.ts'

const error = (message: string, param: string | null = null) =>
  JSON.stringify({ error: { message, type: 'BadRequestError', param, code: 400 } })

test.each([
  [
    'an error has the message of the engine',
    400,
    error('priority needs a scheduler', 'priority'),
    { status: 422, detail: [{ loc: ['body', 'priority'], msg: 'priority needs a scheduler', type: 'value_error' }] },
  ],
  [
    "for a grammar that an engine cannot use, the client gets the engine's message",
    400,
    JSON.stringify({ error: { message: 'make it simpler', type: 'GrammarError', param: 'tools', code: 400 } }),
    { status: 400, detail: 'make it simpler' },
  ],
  [
    'an adapter that an engine cannot load is not the fault of the request',
    400,
    error("LoRA adapter 'acme/mail/email:step3' was found but could not be loaded."),
    { status: 503, code: 'engine_unavailable', headers: { 'Retry-After': '2' } },
  ],
  [
    'a request that quotes the sentence of such an adapter is told its own',
    400,
    error("Bad role: LoRA adapter 'a' was found but could not be loaded.", 'messages'),
    { status: 422 },
  ],
  [
    'a path in the body is split into its parts',
    400,
    error('Field required', 'body.response_format.type'),
    { status: 422, detail: [{ loc: ['body', 'response_format', 'type'], msg: 'Field required', type: 'value_error' }] },
  ],
  ...[
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    'tool_choice="required" requires --tool-call-parser to be set',
  ].map((message): [string, number, string, object] => [
    'the error for tools without a parser names the field to set',
    400,
    error(message),
    {
      status: 422,
      detail: [
        {
          loc: ['body', 'tools'],
          msg:
            'This model is served without a tool call parser, so it cannot use tools. Leave out tools, or set ' +
            'spec.engine.toolCallParser of its BaseModel.',
          type: 'value_error',
        },
      ],
    },
  ]),
  ...[
    "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens.",
    'The decoder prompt (length 4096) is longer than the maximum model length of 4096.',
    "Input length (4097) exceeds model's maximum context length (4096).",
  ].map((message): [string, number, string, object] => [
    `a chat that is too long has a code of its own: ${message}`,
    400,
    error(message, 'input_tokens'),
    {
      status: 400,
      code: 'context_length_exceeded',
      detail: [{ loc: ['body'], msg: message, type: 'value_error' }],
    },
  ]),
  [
    'arguments that are nested too deeply are an error of the request',
    500,
    error('maximum recursion depth exceeded while decoding a JSON array from a unicode string'),
    { status: 422, detail: [{ loc: ['body', 'messages'], msg: expect.any(String) as unknown, type: 'value_error' }] },
  ],
  [
    'an error without a message',
    400,
    '<html>',
    { status: 422, detail: [{ loc: ['body'], msg: 'The engine refused the request', type: 'value_error' }] },
  ],
  [
    'a checkpoint that is not found may be loaded later',
    404,
    error('x'),
    { status: 503, headers: { 'Retry-After': '2' } },
  ],
  [
    'a path that the engine does not have',
    404,
    '{"detail":"Not Found"}',
    { status: 400, code: 'unsupported_operation' },
  ],
  ['a path that our engine does not serve', 404, '{"error":"Not found"}', { status: 400 }],
  ['a path that the model does not support', 501, error('The model does not support Embeddings API'), { status: 400 }],
  ['too many requests', 429, '', { status: 503, headers: { 'Retry-After': '2' } }],
  ['clients do not see that the engine key is wrong', 401, '{"error":"Unauthorized"}', { status: 502 }],
  [
    'clients do not see the message of a crash',
    500,
    error('/opt/secret'),
    { status: 502, detail: 'The engine failed to answer.' },
  ],
])('%s', (_, status, body, expected) => {
  expect(translateEngineError(status, Buffer.from(body))).toMatchObject(expected)
})
