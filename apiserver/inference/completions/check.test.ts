import { expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { checkCompletion } from './check.ts'

const target = { engineName: 'engine', trainable: true, cacheSalt: 'salt' }
const check = (more: object) => checkCompletion(parseJson(Buffer.from(JSON.stringify({ prompt: 'a', ...more }))))
const change = (more: object) => check(more).change(target)

test('engines get their own name of the model and a salt, and only declared members', () => {
  expect(
    change({ model: 'mine', logprobs: 2, best_of: 1, store: true, vllm_xargs: { ngram_size: 2, other: 1 } }),
  ).toEqual({
    model: 'engine',
    cache_salt: 'salt',
    return_token_ids: true,
    best_of: undefined,
    store: undefined,
    engine_xargs: undefined,
    vllm_xargs: { ngram_size: 2 },
  })
})

test.each<[string, object, object]>([
  ['asks for what training needs', {}, { logprobs: 0, return_token_ids: true }],
  ['keeps what the client turns off', { logprobs: null, return_token_ids: false }, {}],
  ['leaves an echo unchanged, which has no text with ids', { echo: true }, {}],
])('for a model of this service it %s', (_, given, added) => {
  expect(change(given)).toEqual({ ...added, cache_salt: 'salt', model: 'engine' })
  expect(check(given).change({ ...target, trainable: false })).toEqual({ cache_salt: 'salt', model: 'engine' })
})

test('the gateway asks for the usage of streams, and clients get it only if they ask for it', () => {
  expect(change({ stream: true })).toMatchObject({ stream_options: { include_usage: true } })
  expect(
    [{}, { stream_options: { include_usage: true } }].map((more) => check({ stream: true, ...more }).hidesUsage),
  ).toEqual([true, false])
})

test.each([
  ['a text', 'a'],
  ['token ids', Array.from({ length: 2_000 }, () => 1)],
  ['texts', Array.from({ length: 1_024 }, () => 'a')],
  ['lists of token ids', [[1, 2], [3]]],
])('a prompt can be %s', (_, prompt) => {
  expect(check({ prompt }).model).toBeUndefined()
})

test.each<[string, object, string]>([
  ['no prompt', { prompt: null }, 'prompt'],
  ['an empty list', { prompt: [] }, 'prompt'],
  ['too many prompts', { prompt: Array.from({ length: 1_025 }, () => 'a') }, 'prompt'],
  ['too many samples of prompts', { prompt: [[1], [2]], n: 513 }, 'prompt'],
  ['a text for logprobs', { logprobs: '2' }, 'logprobs'],
  ['best_of larger than n', { best_of: 2 }, 'best_of'],
  ['a tensor', { prompt_embeds: 'x' }, 'prompt_embeds'],
  ['parameters of KV transfer', { kv_transfer_params: { a: 1 } }, 'kv_transfer_params'],
  [
    'arguments that would change the engine',
    { vllm_xargs: { diffusion_max_steps: 1 } },
    'vllm_xargs.diffusion_max_steps',
  ],
  ['a priority', { priority: 1 }, 'priority'],
  ['a large grammar', { structured_outputs: { regex: 'a'.repeat(70_000) } }, 'structured_outputs'],
])('%s is rejected', (_, more, path) => {
  expect(() => check(more)).toThrow(`body.${path}: `)
})

test('a complete reply is at most 256 MiB, and a stream is not bounded', () => {
  const basis = { bodyBytes: 3_000, trainable: false }
  const large = { prompt: Array.from({ length: 100 }, () => 'a'), n: 10, max_tokens: 4_000, logprobs: 5 }
  expect(() => check({ ...large, n: 1 }).rejectLargeReply(basis)).not.toThrow()
  expect(() => check(large).rejectLargeReply(basis)).toThrow(/max_tokens: The reply could have \d+ bytes/)
  expect(() => check({ ...large, stream: true }).rejectLargeReply(basis)).not.toThrow()
  const plain = { prompt: Array.from({ length: 100 }, () => 'a'), n: 10, max_tokens: 4_000 }
  expect(() => check(plain).rejectLargeReply(basis)).not.toThrow()
  expect(() => check(plain).rejectLargeReply({ ...basis, trainable: true })).toThrow(/The reply could have/)
  const echo = { echo: true, logprobs: -1, max_tokens: 1 }
  expect(() => check(echo).rejectLargeReply(basis)).toThrow(/The reply could have/)
})
