import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { createRest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'
import { createTraceClient } from '../support/trace-client.ts'

const stack = await useOwnStack()
const rest = createRest(stack)
let traces: ReturnType<typeof createTraceClient>
let project: string
let project_id: string

beforeEach(() => {
  traces = createTraceClient(`${stack.url}/traces`, stack.apiKey)
  project = `p-${randomUUID()}`
  project_id = `local/${project}`
})

interface Version {
  object_id: string
  digest: string
  version_index: number
  ref: string
  added: number
  rows: number
}

async function addCall(more: object = {}): Promise<string> {
  const id = newId()
  const times = { started_at: '2026-11-21T10:00:00Z', ended_at: '2026-11-21T10:00:01Z' }
  const call = {
    project_id,
    id,
    trace_id: id,
    op_name: 'answer',
    attributes: {},
    inputs: {},
    output: null,
    summary: {},
  }
  await traces.call(`/v2/${project_id}/calls/complete`, { batch: [{ ...call, ...times, ...more }] })
  return id
}
const copy = (call_ids: string[], dataset = 'copies') =>
  rest.call<Version>('POST', `/v1/preview/projects/${project}/calls/to-dataset`, { dataset, call_ids })
const sendCopy = (body: object, key?: string) =>
  createRest(stack, key).send('POST', `/v1/preview/projects/${project}/calls/to-dataset`, body)
const readRows = async (digest: string) => {
  const { obj } = await traces.call<{ obj: { val: { rows: string; _type: string } } }>('/obj/read', {
    project_id,
    object_id: 'copies',
    digest,
  })
  const table = obj.val.rows.split('/').at(-1)
  const { rows } = await traces.call<{ rows: { val: object }[] }>('/table/query', { project_id, digest: table })
  return rows.map(({ val }) => val)
}

describe('calls', () => {
  test('become rows in the order of the request, and later ones are added to those before', async () => {
    const first = await addCall({ inputs: { question: 'a', call: 'mine' }, output: { text: 'A' } })
    const second = await addCall({ inputs: { question: 'b' }, output: 12345678901234567890n.toString() })
    const made = await copy([second, first, second])
    expect(made).toMatchObject({ object_id: 'copies', version_index: 0, added: 2, rows: 2 })
    const refOf = (id: string) => `weave:///${project_id}/call/${id}`
    const rows = [
      { question: 'b', output: '12345678901234567890', call: refOf(second) },
      { question: 'a', output: { text: 'A' }, call: refOf(first) },
    ]
    expect(await readRows(made.digest)).toEqual(rows)
    const third = await addCall()
    const grown = await copy([third])
    expect(grown).toMatchObject({ version_index: 1, added: 1, rows: 3 })
    expect(await readRows(grown.digest)).toEqual([...rows, { output: null, call: refOf(third) }])
    expect(await readRows(made.digest)).toEqual(rows)
  })

  test('of concurrent requests are all there', async () => {
    const calls = await Promise.all(Array.from({ length: 4 }, () => addCall()))
    await Promise.all(calls.map((id) => copy([id])))
    expect(await readRows('latest')).toHaveLength(4)
  })

  test.each([
    ['an unknown call', { dataset: 'copies', call_ids: [newId()] }, 404],
    ['no call', { dataset: 'copies', call_ids: [] }, 422],
    ['a name that no object has', { dataset: 'a/b', call_ids: ['?'] }, 403],
  ])('%s is an error', async (_, body, status) => {
    const id = await addCall()
    const response = await sendCopy({ ...body, call_ids: body.call_ids.map((each) => (each === '?' ? id : each)) })
    expect(response.status).toBe(status)
  })

  test('need a key that may write, and a name that is not that of something else', async () => {
    const id = await addCall()
    await traces.call('/obj/create', { obj: { project_id, object_id: 'prompt', val: { text: 'a' } } })
    expect((await sendCopy({ dataset: 'prompt', call_ids: [id] })).status).toBe(409)
    const { key } = await rest.call<{ key: string }>('POST', '/v1/preview/keys', { role: 'read' })
    expect((await sendCopy({ dataset: 'copies', call_ids: [id] }, key)).status).toBe(403)
  })
})

test('trajectories become rows with their messages and rewards', async () => {
  const { id: model } = await rest.call<{ id: string }>('POST', '/v1/preview/models', {
    project,
    name: 'agent',
    base_model: stack.baseModel,
  })
  const choice = { finish_reason: 'stop', index: 0, logprobs: null, message: { role: 'assistant', content: 'red' } }
  const messages_and_choices = [{ role: 'user', content: 'a colour?' }, choice]
  await rest.call('POST', `/v1/preview/models/${model}/log`, {
    split: 'val',
    trajectory_groups: [{ trajectories: [{ messages_and_choices, reward: 0.5, metadata: { scenario_id: 's' } }] }],
  })
  const path = `/v1/preview/models/${model}`
  const { data } = await rest.call<{ data: { id: string }[] }>('GET', `${path}/trajectories`)
  const id = data[0]!.id
  const made = await rest.call<Version>('POST', `${path}/to-dataset`, { dataset: 'copies', trajectory_ids: [id] })
  expect(made).toMatchObject({ version_index: 0, added: 1, rows: 1 })
  expect(await readRows(made.digest)).toEqual([
    {
      messages: [{ role: 'user', content: 'a colour?' }, choice.message],
      reward: 0.5,
      metrics: {},
      scenario_id: 's',
      step: 0,
      model: `${project_id}/agent`,
      trajectory: id,
    },
  ])
  const unknown = { dataset: 'copies', trajectory_ids: [randomUUID()] }
  expect((await rest.send('POST', `${path}/to-dataset`, unknown)).status).toBe(404)
})

interface Statistics {
  calls: number
  is_whole: boolean
  from: string | null
  to: string | null
  buckets: { calls: number; errors: number }[]
  ops: object[]
  statuses: object[]
  models: object[]
  threads: object[]
}

test('calls are counted by time, op, status, thread and model', async () => {
  const at = (minute: number) => ({
    started_at: `2026-11-21T10:0${minute}:00Z`,
    ended_at: `2026-11-21T10:0${minute}:01Z`,
  })
  const usage = { usage: { tiny: { prompt_tokens: 3, completion_tokens: 4 } } }
  const op = (digest: string) => ({ op_name: `weave:///${project_id}/op/answer:${digest}` })
  await addCall({ ...at(0), ...op('a'), summary: usage, thread_id: 't' })
  await addCall({ ...at(0), ...op('b'), summary: { usage: 'none' } })
  await addCall({ ...at(9), op_name: 'chat', exception: 'broken' })
  const count = (body: object) =>
    rest.call<Statistics>('POST', `/v1/preview/projects/${project}/calls/statistics`, body)
  expect(await count({ buckets: 3 })).toEqual({
    calls: 3,
    is_whole: true,
    from: '2026-11-21T10:00:00.000000Z',
    to: '2026-11-21T10:09:00.000000Z',
    buckets: [
      { calls: 2, errors: 0 },
      { calls: 0, errors: 0 },
      { calls: 1, errors: 1 },
    ],
    ops: [
      { value: 'answer', calls: 2 },
      { value: 'chat', calls: 1 },
    ],
    statuses: [
      { value: 'success', calls: 2 },
      { value: 'error', calls: 1 },
    ],
    threads: [{ value: 't', calls: 1 }],
    models: [{ value: 'tiny', calls: 1 }],
  })
  const range = { from: '2026-11-21T10:00:00Z', to: '2026-11-21T10:01:00Z', buckets: 2 }
  expect(await count(range)).toMatchObject({ calls: 2, buckets: [{ calls: 2 }, { calls: 0 }] })
  const tokens = { $gte: [{ $getField: 'summary.weave.total_tokens' }, { $literal: 7 }] }
  expect(await count({ query: { $expr: tokens } })).toMatchObject({ calls: 1, ops: [{ value: 'answer', calls: 1 }] })
  project = `p-${randomUUID()}`
  expect(await count({})).toMatchObject({ calls: 0, from: null, ops: [] })
})
