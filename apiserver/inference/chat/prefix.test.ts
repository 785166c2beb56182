import { expect, test } from 'vitest'
import { readPrefix } from './prefix.ts'

test('all turns of a conversation begin alike', () => {
  const first = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
  ]
  const second = [...first, { role: 'assistant', content: 'Hi.' }, { role: 'user', content: 'More.' }]
  expect(readPrefix(second)).toBe(readPrefix(first))
  expect(readPrefix(first)).toBe('Be brief.Hello')
})

test('what is long, strange or absent is no obstacle', () => {
  expect(readPrefix([{ role: 'user', content: 'a'.repeat(1_000_000) }])).toHaveLength(1_024)
  const many = Array.from({ length: 10_000 }, () => ({ role: 'system', content: 'a'.repeat(100) }))
  expect(readPrefix(many)).toHaveLength(1_024)
  expect(readPrefix([null, 1, {}, { content: [null] }, { content: { text: 1 } }])).toBe('')
})
