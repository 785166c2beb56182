import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { parseChatRequest } from './chat-schema.ts'
import { changeChat } from './engine-request.ts'

const charged = { project: 'proj', modelId: 'id', baseModel: 'org/base' }
const serving = { baseModelCrName: 'base', charged, cacheSalt: 'salt' }
const trained = { ...serving, requestedName: 'team/proj/agent', engineName: 'checkpoint', trainable: true }
const base = { ...trained, requestedName: 'base', engineName: 'org/base', trainable: false }
const messages = [{ role: 'user', content: 'hi' }]
const salted = { cache_salt: 'salt' }
const counted = { stream_options: { include_usage: true } }

function build(body: string, target: typeof trained): string {
  const document = parseJson(Buffer.from(body))
  return document.members.change(changeChat(parseChatRequest(document), target)).toString()
}

const buildFrom = (body: object, target = trained): unknown =>
  JSON.parse(build(JSON.stringify({ messages, ...body }), target))

describe('the request to an engine', () => {
  test.each([
    ['asks for what training needs', {}, { logprobs: true, return_token_ids: true }],
    ['keeps an explicit false or null', { logprobs: false, return_token_ids: null }, {}],
    [
      'asks a stream for token ids in the logprobs too',
      { stream: true },
      { logprobs: true, return_token_ids: true, return_tokens_as_token_ids: true, ...counted },
    ],
    [
      'keeps what a stream explicitly gives up',
      { stream: true, return_tokens_as_token_ids: false, logprobs: true },
      { return_token_ids: true, ...counted },
    ],
    ['has none of it in a stream that is none', { stream: null }, { logprobs: true, return_token_ids: true }],
    ['passes other fields', { logprobs: null, return_token_ids: false, top_k: 1 }, {}],
  ])('for a model of ours %s', (_, given, added) => {
    expect(buildFrom(given)).toEqual({ messages, ...given, ...added, ...salted, model: 'checkpoint' })
  })

  test('for a base model has the name changed, and the salt of the prefix cache', () => {
    expect(buildFrom({ model: 'alias', stream: false }, base)).toEqual({
      messages,
      stream: false,
      ...salted,
      model: 'org/base',
    })
  })

  test.each([
    ['without options', {}, counted],
    ['whose client wants no usage', { stream_options: { include_usage: false } }, counted],
    ['whose client wants its usage', { stream_options: { include_usage: true, continuous_usage_stats: true } }, {}],
  ])('asks for the usage of a stream %s', (_, given, added) => {
    const body = { messages, stream: true, ...given }
    expect(buildFrom(body, base)).toEqual({ ...body, ...added, ...salted, model: 'org/base' })
  })

  test('keeps every byte of the other fields', () => {
    const body = '{"messages": [{"role":"user"}],"seed":9007199254740993,"temperature":1.0}'
    expect(build(body, base)).toBe(`${body.slice(0, -1)},"cache_salt":"salt","model":"org/base"}`)
  })

  test.each([
    ['engine_xargs as vLLM says it', { engine_xargs: { ngram_size: 1 } }, { vllm_xargs: { ngram_size: 1 } }],
    [
      "vLLM's name first",
      { engine_xargs: { ngram_size: 1 }, vllm_xargs: { window_size: 2 } },
      { vllm_xargs: { window_size: 2 } },
    ],
    ['none of the arguments that are not known', { vllm_xargs: { path: '/etc/passwd' } }, { vllm_xargs: {} }],
    [
      'none of the members that are not known',
      JSON.parse('{"tensor_path": "/etc/passwd", "constructor": 1, "__proto__": 2}') as object,
      {},
    ],
    ['none that are refused where they say something', { prompt_embeds: null, logits_processors: [] }, {}],
  ])('has %s', (_, given, expected) => {
    expect(buildFrom(given, base)).toEqual({ messages, ...expected, ...salted, model: 'org/base' })
  })

  const tools = [{ type: 'function', function: { name: 'f' } }]
  test.each([
    ['no empty list of tools', { tools: [] }, {}],
    ['no choice among no tools', { tools: [], tool_choice: 'auto' }, {}],
    ['no choice without tools', { tools: null, tool_choice: 'none' }, {}],
    ['no null for a choice', { tools, tool_choice: null }, { tools }],
    ['tools and a choice', { tools, tool_choice: 'none' }, { tools, tool_choice: 'none' }],
    [
      'a choice that cannot be made, for the engine to say so',
      { tools: [], tool_choice: 'required' },
      { tool_choice: 'required' },
    ],
  ])('has %s', (_, given, expected) => {
    expect(buildFrom(given, base)).toEqual({ messages, ...expected, ...salted, model: 'org/base' })
  })

  test("has the gateway's salt in place of the client's", () => {
    expect(buildFrom({ cache_salt: 'mine' }, base)).toEqual({ messages, ...salted, model: 'org/base' })
  })
})

describe('a chat request', () => {
  const parse = (body: object) => parseChatRequest(parseJson(Buffer.from(JSON.stringify(body))))

  test('takes parts, tools and nulls', () => {
    const body = {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'u' }] },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
        { role: 'tool', content: '42', tool_call_id: 'c' },
      ],
      tools: null,
      stop: ['a'],
      n: null,
    }
    expect(parse(body)).toEqual(body)
  })

  test.each([
    ['no messages', {}, ['messages'], 'missing'],
    ['an empty list', { messages: [] }, ['messages'], 'too_short'],
    ['a list of very many', { messages: Array(10_001).fill(messages[0]) }, ['messages'], 'too_long'],
    ['a text for messages', { messages: 'hi' }, ['messages'], 'list_type'],
    ['a message that is a text', { messages: ['hi'] }, ['messages', '0'], 'dict_type'],
    ['a message without a role', { messages: [{ content: 'x' }] }, ['messages', '0', 'role'], 'missing'],
    ['a number for content', { messages: [{ role: 'user', content: 7 }] }, ['messages', '0', 'content'], 'string_type'],
    ['a text for max_tokens', { messages, max_tokens: '8' }, ['max_tokens'], 'int_type'],
    ['a fraction for n', { messages, n: 1.5 }, ['n'], 'int_from_float'],
    ['n of 0', { messages, n: 0 }, ['n'], 'greater_than_equal'],
    ['a text for stream', { messages, stream: 'true' }, ['stream'], 'bool_type'],
    ['a number for model', { messages, model: 7 }, ['model'], 'string_type'],
    ['a priority', { messages, priority: 3 }, ['priority'], 'literal_error'],
    ['a seed beyond 64 bits', { messages, seed: 1e20 }, ['seed'], 'less_than_equal'],
  ])('is refused with %s', (_, body, loc, type) => {
    expect(() => parse(body)).toThrow(
      expect.objectContaining({ detail: [expect.objectContaining({ loc: ['body', ...loc], type })] }),
    )
  })
})
