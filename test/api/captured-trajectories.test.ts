import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { captureExchange, captureJudged, judge, protocols, type Protocol } from '../support/captured.ts'
import { createRest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'
import { createTraceClient } from '../support/trace-client.ts'

const stack = await useOwnStack()
const rest = createRest(stack)
const traces = createTraceClient(`${stack.url}/traces`, stack.apiKey)
const project = `p-${randomUUID()}`
const name = `local/${project}/agent`

interface Row {
  id: string
  tokens: number
  prompt_hash: string
  flags: string[]
}

interface Captured extends Row {
  trajectory: object
  histories?: { messages_and_choices: { role?: string; content?: unknown; message?: { content: unknown } }[] }[]
}

const promptOf = (protocol: string) => `Which colour is ${protocol}?`
const answerOf = (protocol: string) => `Orange is ${protocol}.`
const capture = (protocol: Protocol) =>
  captureJudged(protocol, {
    model: `wandb-artifact:///${name}:step0`,
    prompt: promptOf(protocol),
    answer: answerOf(protocol),
  })
/** The same as a client writes it. */
const written = {
  messages_and_choices: [
    { role: 'user', content: promptOf('written') },
    { finish_reason: 'stop', message: { role: 'assistant', content: answerOf('written') }, logprobs: null },
  ],
}
const groups = [
  { trajectories: [...protocols.map((protocol) => ({ exchanges: capture(protocol), reward: 1 })), written] },
]

let modelId: string
let path: string
const list = async () => (await rest.call<{ data: Row[] }>('GET', `${path}/trajectories?limit=100`)).data
const get = (id: string) => rest.call<Captured>('GET', `${path}/trajectories/${id}`)

beforeAll(async () => {
  const model = { project, name: 'agent', base_model: stack.baseModel }
  modelId = (await rest.call<{ id: string }>('POST', '/v1/preview/models', model)).id
  path = `/v1/preview/models/${modelId}`
  await rest.call('POST', '/v1/preview/training-jobs', { model_id: modelId, trajectory_groups: groups })
})

describe('captured trajectories of a job', () => {
  test('are listed with the tokens and flags of the conversation with the model', async () => {
    const rows = await list()
    expect(rows.map(({ tokens, flags }) => ({ tokens, flags }))).toEqual([
      ...protocols.map(() => ({ tokens: 3, flags: ['captured'] })),
      { tokens: 0, flags: ['no_logprobs'] },
    ])
  })

  test('are returned as they were sent, with their histories', async () => {
    const rows = await list()
    for (const [index, protocol] of protocols.entries()) {
      const { trajectory, histories, flags } = await get(rows[index]!.id)
      expect([trajectory, flags]).toEqual([groups[0]!.trajectories[index], ['captured']])
      const [asked, answered] = histories![0]!.messages_and_choices
      expect([histories!.length, asked]).toEqual([1, { role: 'user', content: promptOf(protocol) }])
      const text = answerOf(protocol)
      expect(answered!.message!.content).toEqual(protocol === 'messages' ? [{ type: 'text', text }] : text)
      expect(answered).toMatchObject({
        token_ids: [5, 6, 7],
        logprobs: { content: [-0.1, -0.2, -0.3].map(withLogprob) },
      })
    }
    expect(await get(rows.at(-1)!.id)).not.toHaveProperty('histories')
  })

  test('are found by what the model has said and was asked, and not by what a judge says', async () => {
    const search = async (text: string) => {
      const query = `text=${encodeURIComponent(text)}`
      const { data } = await rest.call<{ data: { matches: object[] }[] }>('GET', `${path}/trajectory-matches?${query}`)
      return data.map(({ matches }) => matches)
    }
    for (const protocol of protocols)
      expect(await search(`is ${protocol}`)).toMatchObject([
        [
          { turn: 0, role: 'user', before: 'Which colour ' },
          { turn: 1, role: 'assistant', before: 'Orange ' },
        ],
      ])
    expect(await search('perhaps')).toEqual([])
  })

  test('become rows of a data set like those that were written', async () => {
    const rows = await list()
    const body = { dataset: 'copies', trajectory_ids: rows.map(({ id }) => id) }
    const { digest } = await rest.call<{ digest: string }>('POST', `${path}/to-dataset`, body)
    const project_id = `local/${project}`
    const object = { project_id, object_id: 'copies', digest }
    const { obj } = await traces.call<{ obj: { val: { rows: string } } }>('/obj/read', object)
    const table = { project_id, digest: obj.val.rows.split('/').at(-1) }
    const { rows: copied } = await traces.call<{ rows: { val: object }[] }>('/table/query', table)
    expect(copied.map(({ val }) => val)).toMatchObject(
      [...protocols, 'written'].map((each, index) => ({
        messages: [
          { role: 'user', content: promptOf(each) },
          {
            role: 'assistant',
            content: each === 'messages' ? [{ type: 'text', text: answerOf(each) }] : answerOf(each),
          },
        ],
        reward: index === protocols.length ? 0 : 1,
        model: name,
        trajectory: rows[index]!.id,
      })),
    )
  })
})

const withLogprob = (logprob: number) => ({ logprob })

test('a body that names its model last is read for that model', async () => {
  const body = { trajectory_groups: groups, model_id: name }
  const { id } = await rest.call<{ id: string }>('POST', '/v1/preview/training-jobs', body)
  const { data } = await rest.call<{ data: Row[] }>('GET', `${path}/trajectories?job_id=${id}`)
  expect(data.map(({ tokens }) => tokens)).toEqual([3, 3, 3, 3, 0])
})

test('logged trajectories are read for the model in the path, and exchanges with others are no conversation', async () => {
  const exchanges = { chat_completions: [judge] }
  const body = { split: 'val', trajectory_groups: [{ trajectories: [...groups[0]!.trajectories, { exchanges }] }] }
  await rest.call('POST', `${path}/log`, body)
  const { data } = await rest.call<{ data: Row[] }>('GET', `${path}/trajectories?split=val`)
  expect(data.map(({ tokens }) => tokens)).toEqual([3, 3, 3, 3, 0, 0])
  expect(await get(data.at(-1)!.id)).toMatchObject({ trajectory: { exchanges }, histories: [] })
})

test('an edited answer begins a second history', async () => {
  const model = name
  const [prompt, answer] = ['Name a colour.', 'Red it is.']
  const first = captureExchange('chat_completions', { model, prompt, answer })
  const later = { model, prompt: 'Another?', answer: 'Blue.', startedAt: '2026-11-29T06:40:06Z' }
  const second = captureExchange('chat_completions', later)
  const edited = [
    { role: 'user', content: prompt },
    { role: 'assistant', content: 'Green' },
    { role: 'user', content: 'Another?' },
  ]
  const chat_completions = [{ ...second, request: { model, messages: edited } }, first]
  const trajectory_groups = [{ trajectories: [{ exchanges: { chat_completions } }] }]
  await rest.call('POST', `${path}/log`, { split: 'test', trajectory_groups })
  const { data } = await rest.call<{ data: Row[] }>('GET', `${path}/trajectories?split=test`)
  expect(data[0]).toMatchObject({ tokens: 4, flags: ['additional_histories', 'captured', 'zero_advantage'] })
  const { histories } = await get(data[0]!.id)
  expect(histories!.map((history) => history.messages_and_choices.length)).toEqual([2, 4])
})
