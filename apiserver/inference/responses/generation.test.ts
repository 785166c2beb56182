import { expect, test } from 'vitest'
import { ChatReplyReader } from './chat-reply.ts'
import { Generation } from './generation.ts'
import { ResponseOutput } from './output.ts'

const score = (logprob: number) => ({ token: 'a', logprob, bytes: [97], top_logprobs: [] })

function read(replies: object[], hasLogprobs = false) {
  const [output, generation] = [new ResponseOutput('resp_1'), new Generation()]
  const reader = new ChatReplyReader({ output, generation, hasLogprobs })
  for (const reply of replies) reader.read(reply)
  const parts = output.items.flatMap((item) => (item.type === 'message' ? item.content : []))
  return { generations: generation.present(output.items.length), parts, size: generation.size }
}

const complete = {
  prompt_token_ids: [1, 2],
  choices: [
    {
      message: { content: 'aa', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] },
      logprobs: { content: [score(-0.5), score(-1)] },
      token_ids: [7, 8],
      sampling: { temperature: 0.3 },
    },
  ],
}
const generations = [
  {
    prompt_token_ids: [1, 2],
    output_tokens: [
      { token_id: 7, logprob: -0.5 },
      { token_id: 8, logprob: -1 },
    ],
    output_indices: [0, 1],
    sampling: { temperature: 0.3 },
  },
]

test('the tokens of a complete reply are those of all of its items', () => {
  const { generations: found, parts } = read([complete])
  expect(found).toEqual(generations)
  expect(parts).toMatchObject([{ text: 'aa', logprobs: [] }])
})

test('a part of the output has its log-probabilities only if the client asked for them', () => {
  expect(read([complete], true).parts).toMatchObject([{ logprobs: [score(-0.5), score(-1)] }])
})

test('the tokens of a stream are joined', () => {
  const piece = (more: object) => ({ choices: [{ delta: {}, ...more }] })
  const { generations: found, size } = read([
    { ...piece({ delta: { content: '' }, sampling: { temperature: 0.3 } }), prompt_token_ids: [1, 2] },
    piece({ delta: { content: 'a' }, token_ids: [7], logprobs: { content: [score(-0.5)] } }),
    piece({ token_ids: [8], logprobs: { content: [score(-1)] } }),
    { choices: [], usage: { prompt_tokens: 2, completion_tokens: 2 } },
  ])
  expect(found).toEqual([{ ...generations[0], output_indices: [0] }])
  expect(size).toBeGreaterThan(100)
})

test('a reply whose numbers of tokens and log-probabilities differ has no log-probabilities', () => {
  const [choice] = complete.choices
  const reply = { ...complete, choices: [{ ...choice, logprobs: null, sampling: undefined }] }
  expect(read([reply]).generations).toEqual([
    { prompt_token_ids: [1, 2], output_tokens: [{ token_id: 7 }, { token_id: 8 }], output_indices: [0, 1] },
  ])
})

test('a reply without ids has no generations', () => {
  expect(
    read([{ choices: [{ message: { content: 'a' }, token_ids: null }], prompt_token_ids: null }]).generations,
  ).toBe(undefined)
})
