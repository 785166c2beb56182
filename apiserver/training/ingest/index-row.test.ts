import { expect, test } from 'vitest'
import { checkBody, readBytes } from './check-body.ts'
import { indexTrajectory } from './index-row.ts'

const asked = { role: 'user', content: 'a' }
const choice = (content: string, ids: number[], finish_reason = 'stop') => ({
  finish_reason,
  message: { role: 'assistant', content },
  logprobs: { content: ids.map(() => ({ token: 'a', logprob: -1 })) },
  token_ids: ids,
})
const chat = (model: string, answer: object, messages: object[] = [asked]) => ({
  request: { model, messages },
  response: { choices: [answer] },
})
const own = chat('team/demo/agent', choice('b', [3, 4]))
const judge = chat('openai/judge', choice('good', [5, 6, 7], 'length'), [{ role: 'user', content: 'Is b good?' }])
const index = (...chat_completions: (typeof own)[]) =>
  indexTrajectory({ exchanges: { chat_completions }, reward: 1 }, 'team/demo/agent')

test('a captured conversation has the row of the same conversation that was written', () => {
  const written = indexTrajectory({ messages_and_choices: [asked, choice('b', [3, 4])], reward: 1 }, 'team/demo/agent')
  expect(index(own)).toEqual({ ...written, flags: ['captured'] })
})

test('exchanges with another model count for nothing', () => {
  expect(index(judge, own, judge)).toEqual(index(own))
  expect(index(judge)).toMatchObject({ tokens: 0, flags: ['no_logprobs', 'captured'] })
})

test('a body says whether its rows depend on the name of the model', () => {
  const check = (trajectory: object) =>
    checkBody(
      readBytes(Buffer.from(JSON.stringify({ split: 'val', trajectory_groups: [{ trajectories: [trajectory] }] }))),
      { kind: 'log', model: 'team/demo/agent' },
    )
  const captured = check({ exchanges: { chat_completions: [judge, own] } })
  expect([captured.needsModel, captured.rowBatches.join('')]).toEqual([true, expect.stringContaining('"tokens":2')])
  expect(check({ messages_and_choices: [asked], exchanges: {} }).needsModel).toBe(false)
})
