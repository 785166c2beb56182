import { expect, test } from 'vitest'
import { writeList } from './write-worker.ts'

const model = 'team/demo/agent'
const write = (trajectory: object) =>
  JSON.parse(Buffer.from(writeList({ payload: Buffer.from(JSON.stringify(trajectory)), model })).toString()) as object[]
const answerTo = (content: string) => ({
  request: { model, messages: [{ role: 'user', content }] },
  response: { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'b' } }] },
})

test('histories are a list of messages and choices with their tools', () => {
  const { request, response } = answerTo('é')
  const tools = [{ type: 'function', function: { name: 'f' } }]
  expect(write({ exchanges: { chat_completions: [{ request: { ...request, tools }, response }] } })).toEqual([
    { messages_and_choices: [...request.messages, ...response.choices], tools },
  ])
  expect(write({ exchanges: { chat_completions: [{ request: {}, response }] } })).toEqual([])
})

test('prompts that many choices repeat are written up to a bound', () => {
  const { request, response } = answerTo('é'.repeat(5 * 1024 * 1024))
  const choices = Array.from({ length: 50 }, () => response.choices[0])
  expect(write({ exchanges: { chat_completions: [{ request, response: { choices } }] } })).toHaveLength(3)
})
