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
    ['asks for the members that training needs', {}, { logprobs: true, return_token_ids: true }],
    ['keeps an explicit false or null', { logprobs: false, return_token_ids: null }, {}],
    [
      'asks a stream for token ids in the logprobs too',
      { stream: true },
      { logprobs: true, return_token_ids: true, return_tokens_as_token_ids: true, ...counted },
    ],
    [
      'keeps what a stream explicitly turns off',
      { stream: true, return_tokens_as_token_ids: false, logprobs: true },
      { return_token_ids: true, ...counted },
    ],
    ['adds nothing for streams if stream is null', { stream: null }, { logprobs: true, return_token_ids: true }],
    ['passes other fields', { logprobs: null, return_token_ids: false, top_k: 1 }, {}],
  ])('for a model of this service %s', (_, given, added) => {
    expect(buildFrom(given)).toEqual({ messages, ...given, ...added, ...salted, model: 'checkpoint' })
  })

  test('for a base model contains its name for the engine, and the salt of the prefix cache', () => {
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
    ['engine_xargs under the name in vLLM', { engine_xargs: { ngram_size: 1 } }, { vllm_xargs: { ngram_size: 1 } }],
    [
      "vLLM's name first",
      { engine_xargs: { ngram_size: 1 }, vllm_xargs: { window_size: 2 } },
      { vllm_xargs: { window_size: 2 } },
    ],
    ['no unknown arguments', { vllm_xargs: { path: '/etc/passwd' } }, { vllm_xargs: {} }],
    [
      'no unknown members',
      JSON.parse('{"tensor_path": "/etc/passwd", "constructor": 1, "__proto__": 2}') as object,
      {},
    ],
    ['no members that are rejected unless they are empty', { prompt_embeds: null, logits_processors: [] }, {}],
  ])('has %s', (_, given, expected) => {
    expect(buildFrom(given, base)).toEqual({ messages, ...expected, ...salted, model: 'org/base' })
  })

  const tools = [{ type: 'function', function: { name: 'f' } }]
  test.each([
    ['no empty list of tools', { tools: [] }, {}],
    ['no choice for an empty list of tools', { tools: [], tool_choice: 'auto' }, {}],
    ['no choice without tools', { tools: null, tool_choice: 'none' }, {}],
    ['no choice that is null', { tools, tool_choice: null }, { tools }],
    ['tools and a choice', { tools, tool_choice: 'none' }, { tools, tool_choice: 'none' }],
    [
      'a required choice without tools, which the engine rejects',
      { tools: [], tool_choice: 'required' },
      { tool_choice: 'required' },
    ],
  ])('has %s', (_, given, expected) => {
    expect(buildFrom(given, base)).toEqual({ messages, ...expected, ...salted, model: 'org/base' })
  })

  test("contains the gateway's salt instead of the client's", () => {
    expect(buildFrom({ cache_salt: 'mine' }, base)).toEqual({ messages, ...salted, model: 'org/base' })
  })
})

describe('a chat request', () => {
  const parse = (body: object) => parseChatRequest(parseJson(Buffer.from(JSON.stringify(body))))

  test('can have parts, tools and nulls', () => {
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
  ])('is rejected with %s', (_, body, loc, type) => {
    expect(() => parse(body)).toThrow(
      expect.objectContaining({ detail: [expect.objectContaining({ loc: ['body', ...loc], type })] }),
    )
  })
})
