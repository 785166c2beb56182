import { HttpError } from '../../../lib/http/http-error.ts'
import { expect, test } from 'vitest'
import { readBytes } from './check-body.ts'
import { checkDataSet } from './check-data-set.ts'

const row = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}'

/** Returns the sentences that reject a file; none for a valid file. */
function check(bytes: string | Uint8Array): string[] {
  try {
    checkDataSet(readBytes(Buffer.from(bytes)), 'train.jsonl')
    return []
  } catch (error) {
    if (error instanceof HttpError && typeof error.detail !== 'string') return error.detail.map(({ msg }) => msg)
    throw error
  }
}

test.each([
  ['a line', row],
  ['lines with blank ones between', `\n${row}\r\n\n  \n${row}\n`],
  ['a byte order mark', `\uFEFF${row}`],
  [
    'tools, other members, parts and calls',
    '{"messages":[{"role":"user","content":[{"type":"text","text":"a"},"b"]},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f"}}]}],"tools":[{"type":"function"}],"x":1}',
  ],
  ['a Choice', '{"messages":[{"finish_reason":"stop","message":{"role":"assistant","content":"a"}}]}'],
  ['a line that is as long as a window', row.replace('"b"', `"${'b'.repeat(3_000_000)}"`)],
])('%s is accepted', (_, text) => {
  expect(check(text)).toEqual([])
})

test.each([
  ['nothing', '', 'train.jsonl: it is empty: it has no line with a conversation'],
  ['blank lines', '\n \n', 'train.jsonl: it is empty: it has no line with a conversation'],
  [
    'a line that is not JSON',
    `${row}\nhello`,
    'train.jsonl, line 2 is not valid JSON at byte 0, after "": a value is missing',
  ],
  ['a list', '[]', 'train.jsonl, line 1 must be an object: {"messages": [...]}'],
  [
    'another form',
    '{"prompt":"a","completion":"b"}',
    'train.jsonl, line 1 has no messages: each line is {"messages": [{"role": "user", "content": "..."}, ...]}',
  ],
  [
    'a message without a role',
    '{"messages":[{"content":"a"}]}',
    'train.jsonl, line 1 has an invalid message 1: its role must be a string',
  ],
  [
    'content that is a number',
    '{"messages":[{"role":"user","content":1}]}',
    'train.jsonl, line 1 has an invalid message 1: its content must be a string, a list of text parts, or null',
  ],
  [
    'a conversation without an answer',
    '{"messages":[{"role":"user","content":"a"}]}',
    'train.jsonl: no line has an assistant message that is trained, so there is nothing to train on',
  ],
])('%s is rejected', (_, text, reason) => {
  expect(check(text)).toEqual([`Value error, ${reason}`])
})

test('of many invalid lines the first ten are reported', () => {
  const issues = check(`${row}\n`.repeat(3) + '{}\n'.repeat(50))
  expect(issues).toHaveLength(10)
  expect(issues[9]).toMatch(/^Value error, train\.jsonl, line 13 has no messages/)
})

test.each([
  ['not UTF-8', Buffer.from([0x7b, 0xff, 0x0a]), 'is not valid UTF-8'],
  ['too long', `{"messages":"${'a'.repeat(17 * 1024 * 1024)}"}`, 'is longer than 16777216 bytes'],
])('a line that is %s is rejected', (_, bytes, reason) => {
  expect(check(bytes)).toEqual([`Value error, train.jsonl, line 1 ${reason}`])
})
