import { describe, expect, test } from 'vitest'
import type { Call } from './calls.ts'
import { listAnswers, listNamedCalls, matchCalls, readRunChat, writeAnswersRequest } from './trajectory-calls.ts'

const choice = (content: string | null, { logprobs = [] as number[], tool = '' } = {}) => ({
  finish_reason: 'stop',
  message: { role: 'assistant', content, ...(tool !== '' && { tool_calls: [{ id: tool, type: 'function' }] }) },
  logprobs: { content: logprobs.map((logprob) => ({ token: 'x', logprob })) },
})
const callOf = (id: string, ...choices: object[]): Call => ({
  id,
  trace_id: id,
  op_name: 'openai.chat.completions.create',
  started_at: '2026-11-21T10:00:00Z',
  output: { choices },
})
const answersOf = (...items: object[]) => listAnswers([{ role: 'user', content: 'hi' }, ...items])

describe('the calls of an answer', () => {
  test('are those with its log-probabilities, wherever others say the same', () => {
    const answers = answersOf(choice('Red.', { logprobs: [-1, -2] }))
    const calls = [
      callOf('other', choice('Red.', { logprobs: [-1, -2.5] })),
      callOf('own', choice('Blue.'), choice('Red.', { logprobs: [-1, -2] })),
      callOf('unknown', choice('Red.')),
    ]
    expect(matchCalls(answers, calls)).toEqual([{ turn: 1, call: calls[1], isExact: true }])
  })

  test('are all that say the same, if no log-probabilities tell them apart', () => {
    const calls = [callOf('a', choice('Red.')), callOf('b', choice('Red.')), callOf('c', choice('Blue.'))]
    const found = matchCalls(answersOf(choice('Red.')), calls)
    expect(found.map(({ call, isExact }) => [call.id, isExact])).toEqual([
      ['a', false],
      ['b', false],
    ])
  })

  test('are searched by the ids of tool calls, which are unique, else by what is said', () => {
    const search = {
      answers: answersOf(choice(null, { tool: 'call-7' }), choice('Red.')),
      createdAt: '2026-11-21T12:00:00Z',
      projectId: 'team/p',
    }
    const text = JSON.stringify(writeAnswersRequest(search, 'same text'))
    for (const part of ['"call-7"', '"Red."', '2026-11-20T12:00:00.000Z', '2026-11-21T12:01:00.000Z'])
      expect(text).toContain(part)
    expect(writeAnswersRequest({ ...search, answers: answersOf(choice('')) }, 'same text')).toBeUndefined()
  })

  test('are searched by the log-probabilities of their ends first, because a trained model often says the same', () => {
    const scope = { createdAt: '2026-11-21T12:00:00Z', projectId: 'team/p' }
    const answers = answersOf(choice('Red.', { logprobs: [-1.25, -2, -0.5] }), choice('Blue.'))
    const text = JSON.stringify(writeAnswersRequest({ answers, ...scope }, 'exact'))
    expect(text).toContain('[{"$getField":"output.choices.3.logprobs.content.0.logprob"},{"$literal":-1.25}]')
    expect(text).toContain('[{"$getField":"output.choices.3.logprobs.content.2.logprob"},{"$literal":-0.5}]')
    // Nothing but its text is known of it.
    expect(text).not.toContain('Blue.')
    expect(writeAnswersRequest({ answers: answersOf(choice('Blue.')), ...scope }, 'exact')).toBeUndefined()
  })
})

test('metadata names calls by references and by the usual names, and nothing else', () => {
  const metadata = {
    scenario_id: 'colour-1',
    origin: 'weave:///team/q/call/019a',
    call_id: '019b',
    weave_trace_id: '019c',
    trace_id: 'not an id/../',
    count: 7,
    prompt: 'weave:///team/q/object/x:latest',
  }
  expect(listNamedCalls(metadata, { entity: 'team', project: 'p' })).toEqual([
    { kind: 'call', entity: 'team', project: 'q', id: '019a' },
    { kind: 'call', entity: 'team', project: 'p', id: '019b' },
    { kind: 'trace', entity: 'team', project: 'p', id: '019c' },
  ])
})

describe('a traced chat', () => {
  const call = (model: string, content = 'Red is nice.'): Call => ({
    ...callOf('a', choice(content)),
    inputs: { model, messages: [{ role: 'user', content: 'A' }, { role: 'assistant' }, { role: 'user' }] },
  })

  test.each(['team/p/run', 'team/p/run:step3', 'wandb-artifact:///team/p/run:step3'])(
    'with %s is of a run',
    (model) => {
      expect(readRunChat(call(model), 'team')).toMatchObject({
        project: 'p',
        run: 'run',
        prompt: [{ role: 'user', content: 'A' }],
        text: 'Red is nice.',
      })
    },
  )

  test.each([
    ['trainyard/tiny-chat', 'Red.'],
    ['others/p/run', 'Red.'],
    ['team/p/run', '.'],
  ])('with %s that says %j leads nowhere', (model, content) => {
    expect(readRunChat(call(model, content), 'team')).toBeUndefined()
  })
})
