import { expect, test } from 'vitest'
import { extractSentence } from './engine-sentence.ts'

test.each([
  [
    "1 validation error:\n  {'type': 'less_than_equal', 'loc': 'body.seed', 'msg': 'Input should be less than or equal to 9', 'input': 10}",
    'Input should be less than or equal to 9',
  ],
  [
    `2 validation errors:\n  {'type': 'a', 'msg': "Input should be 'x' or 'y'", 'input': 1}\n  {'msg': 'second'}`,
    "Input should be 'x' or 'y'",
  ],
  [`1 validation error:\n  {'msg': 'It\\'s wrong'}`, "It's wrong"],
  ['1 validation error:\n  nothing else', '1 validation error:\n  nothing else'],
  [
    'Requested sample logprobs of 21, which is greater than max allowed: 20 (parameter=logprobs, value=21)',
    'Requested sample logprobs of 21, which is greater than max allowed: 20',
  ],
  ['The maximum context length is 4096 (tokens).', 'The maximum context length is 4096 (tokens).'],
])('%j', (message, sentence) => {
  expect(extractSentence(message)).toBe(sentence)
})

test('a long message takes no time', () => {
  const started = performance.now()
  extractSentence(`1 validation error: ${"'msg': '\\\\".repeat(50_000)}`)
  extractSentence(' (parameter='.repeat(50_000))
  expect(performance.now() - started).toBeLessThan(1_000)
})
