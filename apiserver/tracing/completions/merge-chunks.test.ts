import { describe, expect, test } from 'vitest'
import { ChunkMerger } from './merge-chunks.ts'

const merge = (...chunks: unknown[]) => {
  const merger = new ChunkMerger()
  for (const chunk of chunks) merger.add(chunk)
  return merger.merge()
}
const delta = (index: number, members: object, more: object = {}) => ({ choices: [{ index, delta: members, ...more }] })

describe('chunks become one completion', () => {
  test('with the joined texts of each choice, and the members of the whole completion', () => {
    const merged = merge(
      { id: 'c', created: 1, model: 'm', ...delta(0, { role: 'assistant', content: '' }) },
      delta(1, { content: 'B' }),
      { id: 'other', ...delta(0, { content: 'A' }) },
      delta(1, { content: 'b' }, { finish_reason: 'length' }),
      delta(0, { content: 'a' }, { finish_reason: 'stop' }),
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 4, total_tokens: 5 } },
    )
    expect(merged).toEqual({
      id: 'c',
      created: 1,
      model: 'm',
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Aa' }, finish_reason: 'stop' },
        { index: 1, message: { role: 'assistant', content: 'Bb' }, finish_reason: 'length' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 4, total_tokens: 5 },
    })
  })

  test('with the reasoning, and tool calls by their index', () => {
    const call = (index: number, more: object) => delta(0, { tool_calls: [{ index, ...more }] })
    const merged = merge(
      delta(0, { reasoning_content: 'Hm' }),
      delta(0, { reasoning: 'm.' }),
      call(1, { id: 'two', type: 'function', function: { name: 'g', arguments: '' } }),
      call(0, { id: 'one', function: { name: 'f', arguments: '{"a"' } }),
      call(0, { function: { arguments: ':1}' } }),
    )
    expect(merged).toMatchObject({
      choices: [
        {
          message: {
            content: null,
            reasoning_content: 'Hmm.',
            tool_calls: [
              { id: 'one', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
              { id: 'two', type: 'function', function: { name: 'g', arguments: '' } },
            ],
          },
          finish_reason: null,
        },
      ],
    })
  })

  test('no chunks become no completion', () => {
    expect(merge('x', null, { id: 'c' }, { choices: 'none' })).toBeUndefined()
  })

  test('an error is thrown', () => {
    const merger = new ChunkMerger()
    merger.add({ error: { message: 'too long' } })
    expect([merger.error, merger.merge()]).toEqual(['too long', undefined])
  })
})

test('reports the size of the completion', () => {
  const merger = new ChunkMerger()
  const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }
  merger.add(delta(0, { content: 'abc', reasoning: 'de', tool_calls: [call] }))
  expect(merger.size).toBe(8)
  merger.add({ choices: [], usage: {} })
  merger.add('[DONE]')
  expect(merger.size).toBe(8)
})
