import { describe, expect, test } from 'vitest'
import { fillMessages } from './template.ts'

const vars = { name: 'Ada', count: 3, list: [1, 'two'], __proto__: null }

describe('variables in messages are replaced', () => {
  test.each([
    ['in texts', { role: 'user', content: 'Hi {name}, {count} times' }, { role: 'user', content: 'Hi Ada, 3 times' }],
    ['by JSON if they are not texts', { content: '{list}' }, { content: '[1,"two"]' }],
    [
      'in texts of parts',
      { content: [{ type: 'text', text: '{name}' }] },
      { content: [{ type: 'text', text: 'Ada' }] },
    ],
    ['but not in lists of other things', { content: ['{name}'] }, { content: ['{name}'] }],
    ['nor in members that are objects', { meta: { a: '{name}' } }, { meta: { a: '{name}' } }],
    ['while doubled braces are braces', { content: '{{name}} {{"a": {count}}}' }, { content: '{name} {"a": 3}' }],
    ['while lone braces stay', { content: 'a } b { c' }, { content: 'a } b { c' }],
  ])('%s', (_, message, expected) => {
    expect(fillMessages([message], vars, 1_000)).toEqual([expected])
  })

  test('a value that is not an object stays unchanged', () => {
    expect(fillMessages(['{name}', null, 1], vars, 1_000)).toEqual(['{name}', null, 1])
  })

  test.each(['unknown', 'constructor', '', 'name!r'])('and {%s} is rejected', (name) => {
    expect(() => fillMessages([{ content: `{${name}}` }], vars, 1_000)).toThrow(
      `the template variable ${JSON.stringify(name)} is missing`,
    )
  })

  test('and texts that would be too large are rejected before they are built', () => {
    const long = { a: 'é'.repeat(1_000_000) }
    const filled = (content: string, limitBytes: number) => () => fillMessages([{ content }], long, limitBytes)
    const tooLarge = (limitBytes: number) => `the chat with its template variables is larger than ${limitBytes} bytes`
    expect(filled('{a}'.repeat(400), 16_000_000)).toThrow(tooLarge(16_000_000))
    expect(filled('{a}', 2_000_000)).not.toThrow()
    expect(filled('{a}', 1_999_999)).toThrow(tooLarge(1_999_999))
    const many = Array.from({ length: 11 }, () => ({ content: [{ text: '123456789 ' }] }))
    expect(() => fillMessages(many, {}, 100)).toThrow(tooLarge(100))
  })
})
