import { expect, test } from 'vitest'
import { readPrefix } from './prefix.ts'

test('all requests of a conversation have the same prefix', () => {
  const first = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
  ]
  const second = [...first, { role: 'assistant', content: 'Hi.' }, { role: 'user', content: 'More.' }]
  expect(readPrefix(second)).toBe(readPrefix(first))
  expect(readPrefix(first)).toBe('Be brief.Hello')
})

test('long, malformed or missing messages do not fail', () => {
  expect(readPrefix([{ role: 'user', content: 'a'.repeat(1_000_000) }])).toHaveLength(1_024)
  const many = Array.from({ length: 10_000 }, () => ({ role: 'system', content: 'a'.repeat(100) }))
  expect(readPrefix(many)).toHaveLength(1_024)
  expect(readPrefix([null, 1, {}, { content: [null] }, { content: { text: 1 } }])).toBe('')
})
