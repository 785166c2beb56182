import { expect, test } from 'vitest'
import { findUsage, UsageSearch } from './find-usage.ts'

const usage = '"usage":{"prompt_tokens":7,"total_tokens":12,"completion_tokens":5,"prompt_tokens_details":null}'
const found = { promptTokens: 7, completionTokens: 5 }
const reply = `{"id":"c","choices":[{"message":{"content":"\\"usage\\":{\\"prompt_tokens\\":1,\\"completion_tokens\\":1}"}}],${usage},"prompt_token_ids":[${'1,'.repeat(2_000)}1]}`

test('usage is found anywhere in a reply, but never within a text', () => {
  expect(findUsage(Buffer.from(reply))).toEqual(found)
  expect(findUsage(Buffer.from(reply.replace(usage, '"a":1')))).toBeUndefined()
})

test.each(['"usage":null', '"usage": {"prompt_tokens":7}', '"usage":{"prompt_tokens":-1,"completion_tokens":2}'])(
  '%s is not read as usage',
  (text) => {
    expect(findUsage(Buffer.from(`{${text}}`))).toBeUndefined()
  },
)

test.each([1, 3, 50, 97, 256, 300, 4_000, 100_000])('usage is found in chunks of %i bytes', (size) => {
  const bytes = Buffer.from(reply)
  const search = new UsageSearch()
  for (let at = 0; at < bytes.length; at += size) search.add(bytes.subarray(at, at + size))
  expect(search.found).toEqual(found)
})
