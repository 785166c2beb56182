import type { HttpError } from '../../../lib/http/http-error.ts'
import { expect, test } from 'vitest'
import { rejectLargeReply } from './reply-size.ts'

const messages = [{ role: 'user', content: 'hi' }]
const check =
  (more: object, { bodyBytes = 1_000, trainable = false } = {}) =>
  () =>
    rejectLargeReply({ chat: { messages, ...more }, bodyBytes, trainable })
const tooLarge = /the limit is 268435456\. Lower max_tokens, n, top_logprobs or prompt_logprobs/

test.each([
  ['many samples with top logprobs', { n: 1_024, max_tokens: 400, logprobs: true, top_logprobs: 20 }],
  ['the newer name of max_tokens', { n: 1_024, max_completion_tokens: 400, logprobs: true, top_logprobs: 20 }],
  ['logprobs of a whole vocabulary', { max_tokens: 100, logprobs: true, top_logprobs: -1 }],
  ['logprobs of named tokens', { n: 100, max_tokens: 2_000, logprobs: true, logprob_token_ids: Array(128).fill(1) }],
  ['plain texts', { n: 1_024, max_tokens: 100_000 }],
  ['an echo', { n: 1_024, max_tokens: 1, echo: true, messages: [{ role: 'user', content: 'a'.repeat(1_000_000) }] }],
])('a reply that could be larger than the limit is rejected: %s', (_, more) => {
  expect(check(more)).toThrow(tooLarge)
})

test('logprobs of a long prompt are rejected', () => {
  expect(check({ prompt_logprobs: 20, max_tokens: 1 }, { bodyBytes: 2_000_000 })).toThrow(tooLarge)
  expect(check({ echo: true, logprobs: true, top_logprobs: 20, max_tokens: 1 }, { bodyBytes: 2_000_000 })).toThrow(
    tooLarge,
  )
})

test('replies of models of this service contain logprobs unless the client turned them off', () => {
  const long = { n: 64, max_tokens: 100_000 }
  expect(check(long, { trainable: true })).toThrow(tooLarge)
  expect(check({ ...long, logprobs: false }, { trainable: true })).not.toThrow()
})

test('the ids of a prompt count once, and their copies up to a limit', () => {
  const basis = { bodyBytes: 60_000_000, trainable: true }
  expect(check({ max_tokens: 10_000, n: 64 }, basis)).not.toThrow()
  expect(check({ max_tokens: 10_000, n: 64 }, { ...basis, bodyBytes: 120_000_000 })).toThrow(tooLarge)
})

test.each([
  ['32 samples of 4,000 tokens', { n: 32, max_tokens: 4_000, logprobs: true, top_logprobs: 20 }],
  ['a stream of any length', { n: 1_024, max_tokens: 100_000, logprobs: true, top_logprobs: 20, stream: true }],
  ['a reply without a length', { n: 1_024, logprobs: true, top_logprobs: 20 }],
  ['logprobs of a prompt of 100,000 tokens', { prompt_logprobs: 5, max_tokens: 1 }],
])('%s passes', (_, more) => {
  expect(check(more, { bodyBytes: 400_000 })).not.toThrow()
})

test('the error names the member that sets the length', () => {
  const at = (more: object) => {
    try {
      check({ n: 1_024, logprobs: true, top_logprobs: 20, ...more })()
      return undefined
    } catch (error) {
      return (error as HttpError).detail
    }
  }
  const issueAt = (name: string) => [expect.objectContaining({ loc: ['body', name] }) as unknown]
  expect(at({ max_tokens: 10_000 })).toEqual(issueAt('max_tokens'))
  expect(at({ max_tokens: null, max_completion_tokens: 10_000 })).toEqual(issueAt('max_completion_tokens'))
})
