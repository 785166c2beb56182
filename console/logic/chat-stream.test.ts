import { expect, test } from 'vitest'
import { addChunk, createEventReader, meanLogprob, noAnswer, presentAnswer, StreamError } from './chat-stream.ts'

test('events are read however their bytes are split', () => {
  const stream = ': comment\n\ndata: {"a": 1}\n\ndata: x\r\ndata: y\r\n\r\ndata: [DONE]\n\n'
  for (const size of [1, 3, 7, stream.length]) {
    const read = createEventReader()
    const parts = Array.from({ length: Math.ceil(stream.length / size) }, (_, at) =>
      stream.slice(at * size, (at + 1) * size),
    )
    expect(parts.flatMap((part) => read(part))).toEqual(['{"a": 1}', 'x\ny', '[DONE]'])
  }
})

const chunk = (choice: object, more: object = {}) => JSON.stringify({ choices: [choice], ...more })

test('an answer grows with each event', () => {
  const token = (text: string, logprob: number) => ({ token: 'token_id:1', logprob, bytes: [...Buffer.from(text)] })
  const events = [
    chunk({ delta: { role: 'assistant' } }),
    chunk({ delta: { content: 'Gr' }, logprobs: { content: [token('Gr', -1)] } }),
    chunk({ delta: { content: 'een' }, logprobs: { content: [token('een', -3)] }, finish_reason: 'stop' }),
    JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } }),
    '[DONE]',
  ]
  const answer = events.reduce(addChunk, noAnswer)
  expect(answer).toMatchObject({ text: 'Green', finish: 'stop', usage: { prompt: 7, completion: 2 } })
  expect(meanLogprob(answer)).toBe(-2)
  expect(presentAnswer(answer)).toMatchObject({
    role: 'assistant',
    isSampled: true,
    tokens: [
      { text: 'Gr', logprob: -1 },
      { text: 'een', logprob: -3 },
    ],
  })
  expect(meanLogprob(noAnswer)).toBeUndefined()
})

test('the parts of tool calls and of reasoning are joined', () => {
  const answer = [
    chunk({ delta: { reasoning_content: 'hm' } }),
    chunk({ delta: { tool_calls: [{ index: 0, function: { name: 'find', arguments: '{"a"' } }] } }),
    chunk({
      delta: {
        tool_calls: [
          { index: 0, function: { arguments: ': 1}' } },
          { index: 1, function: { name: 'b' } },
        ],
      },
    }),
  ].reduce(addChunk, noAnswer)
  expect(presentAnswer(answer)).toMatchObject({
    reasoning: 'hm',
    tokens: undefined,
    toolCalls: [
      { name: 'find', arguments: '{"a": 1}' },
      { name: 'b', arguments: '' },
    ],
  })
})

test('an error in the stream is thrown with its sentence', () => {
  const event = JSON.stringify({ detail: 'x', error: { message: 'The engine broke off.' } })
  expect(() => addChunk(noAnswer, event)).toThrow(new StreamError('The engine broke off.'))
})
