import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import OpenAI from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { expireResponses } from '../../db/responses/retention.ts'
import { addKey } from '../support/api-server.ts'
import { useFakeEngine } from '../support/own-gateway.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const model = 'fake'
const own = useFakeEngine(stack, { model, answer: answerChat })
const usage = {
  prompt_tokens: 3,
  completion_tokens: 2,
  total_tokens: 5,
  prompt_tokens_details: { cached_tokens: 1 },
  completion_tokens_details: { reasoning_tokens: 1 },
}
const call = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
const tool = { type: 'function' as const, name: 'add', parameters: { type: 'object' }, strict: null }

let entity: string
let client: OpenAI

/** The requests that engines received. `answer` sends the next reply. */
const asked: Record<string, unknown>[] = []
let answer: (response: ServerResponse, body: Record<string, unknown>) => void

const reply = (message: object, finish = 'stop') => {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }]
  return JSON.stringify({ id: 'chat', object: 'chat.completion', created: 0, model, choices, usage })
}
const events = (...deltas: object[]) =>
  deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`).join('')
const end = (finish = 'stop') =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: finish }] })}\n\n` +
  `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`

async function answerChat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse((await buffer(request)).toString()) as Record<string, unknown>
  asked.push(body)
  response.setHeader('content-type', body['stream'] === true ? 'text/event-stream' : 'application/json')
  answer(response, body)
}

const connect = (apiKey: string) => new OpenAI({ baseURL: `${own.server.url}/v1`, apiKey, maxRetries: 0 })

beforeEach(async () => {
  entity = `team-${randomUUID()}`
  client = connect(await addKey(own.database.pool, entity))
  asked.length = 0
  answer = (response) => void response.end(reply({ content: 'Hello.' }))
})

const status = (asking: Promise<unknown>) =>
  asking.then(
    () => 200,
    (error: unknown) => (error instanceof OpenAI.APIError ? error.status : error),
  )

describe('a response', () => {
  test('is created with a chat', async () => {
    const response = await client.responses.create({
      model,
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'In English.' },
        { role: 'user', content: 'Hi' },
      ],
      max_output_tokens: 7,
      temperature: 0.5,
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' } }, verbosity: 'low' },
      metadata: { a: 'b' },
      safety_identifier: 'me',
      prompt_cache_key: 'mine',
      service_tier: 'auto',
    })
    expect(asked).toEqual([
      {
        model,
        messages: [
          { role: 'system', content: 'Be brief.\n\nIn English.' },
          { role: 'user', content: 'Hi' },
        ],
        max_completion_tokens: 7,
        temperature: 0.5,
        reasoning_effort: 'low',
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
        cache_salt: expect.any(String) as string,
      },
    ])
    expect(response.output_text).toBe('Hello.')
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_\w{32}$/) as string,
      model,
      status: 'completed',
      error: null,
      store: true,
      metadata: { a: 'b' },
      safety_identifier: 'me',
      service_tier: 'default',
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 5,
      },
    })
  })

  test('has reasoning, text and calls as items, and the reason why it was cut off', async () => {
    answer = (response) =>
      void response.end(reply({ reasoning: 'Hm.', content: 'Adding.', tool_calls: [call] }, 'length'))
    const {
      output,
      status: state,
      incomplete_details,
    } = await client.responses.create({ model, input: 'Add.', tools: [tool] })
    expect(output).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Adding.', annotations: [] }] },
      { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}', status: 'incomplete' },
    ])
    expect([state, incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }])
    expect(asked).toMatchObject([
      { tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }] },
    ])
  })

  test('is streamed in events that OpenAI’s SDK can combine', async () => {
    answer = (response) => {
      const calls = (index: number, text: string) => ({
        tool_calls: [{ ...call, id: `call_${index}`, index, function: { ...call.function, arguments: text } }],
      })
      const more = { tool_calls: [{ index: 0, function: { arguments: '"a":1}' } }] }
      response.end(
        events({ role: 'assistant', content: '' }, { reasoning: 'H' }, { reasoning: 'm.' }, { content: 'Add' }) +
          events({ content: 'ing é.' }, calls(0, '{'), more, calls(1, '{}')) +
          end(),
      )
    }
    const types: string[] = []
    const stream = client.responses.stream({ model, input: 'Add.', tools: [tool] })
    for await (const { type } of stream) types.push(type)
    const { output, status: state, usage: used } = await stream.finalResponse()
    expect([state, used?.total_tokens]).toEqual(['completed', 5])
    expect(output).toMatchObject([
      { type: 'reasoning', content: [{ text: 'Hm.' }] },
      { type: 'message', content: [{ text: 'Adding é.' }] },
      { type: 'function_call', name: 'add', arguments: '{"a":1}' },
      { type: 'function_call', name: 'add', arguments: '{}' },
    ])
    expect([types[0], types[1], types.at(-1)]).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ])
    expect(await client.responses.retrieve((await stream.finalResponse()).id)).toMatchObject({ status: 'completed' })
  })

  test('that an engine cuts off is reported as failed, and not stored', async () => {
    answer = (response) => {
      response.write(events({ content: 'Hel' }))
      setTimeout(() => response.destroy(), 50)
    }
    const ended: OpenAI.Responses.Response[] = []
    for await (const event of await client.responses.create({ model, input: 'Hi', stream: true })) {
      if (event.type === 'response.failed') ended.push(event.response)
    }
    expect(ended).toMatchObject([{ status: 'failed', store: false, output: [{ status: 'incomplete' }] }])
    expect(await status(client.responses.retrieve(ended[0]!.id))).toBe(404)
  })

  test('is charged as a chat is', async () => {
    await client.responses.create({ model, input: 'Hi' })
    await expect
      .poll(
        async () => {
          const { rows } = await own.database.pool.query(
            'SELECT requests, prompt_tokens, completion_tokens FROM training.usage WHERE entity = $1',
            [entity],
          )
          return rows
        },
        { timeout: 5_000 },
      )
      .toEqual([{ requests: 1, prompt_tokens: 3, completion_tokens: 2 }])
  })
})

describe('a conversation', () => {
  test('continues from the stored one, without its instructions', async () => {
    answer = (response) => void response.end(reply({ reasoning: 'Hm.', tool_calls: [call] }, 'tool_calls'))
    const first = await client.responses.create({ model, instructions: 'Old.', input: 'Add.', tools: [tool] })
    answer = (response) => void response.end(reply({ content: 'It is 1.' }))
    const output = [{ type: 'function_call_output' as const, call_id: 'call_1', output: '1' }]
    const second = await client.responses.create({ model, input: output, previous_response_id: first.id })
    await client.responses.create({ model, input: 'Thanks', previous_response_id: second.id, store: false })
    const messages = [
      { role: 'user', content: 'Add.' },
      { role: 'assistant', reasoning: 'Hm.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: '1' },
      { role: 'assistant', content: 'It is 1.' },
      { role: 'user', content: 'Thanks' },
    ]
    expect(asked.slice(1)).toMatchObject([{ messages: messages.slice(0, 3) }, { messages }])
  })

  test('can be read and deleted only by its entity', async () => {
    const { id } = await client.responses.create({ model, input: 'Hi' })
    const stranger = connect(await addKey(own.database.pool, `${entity}-others`))
    const reader = connect(await addKey(own.database.pool, entity, 'read'))
    expect(await status(stranger.responses.retrieve(id))).toBe(404)
    expect(await status(stranger.responses.delete(id))).toBe(404)
    expect(await status(stranger.responses.create({ model, input: 'Hi', previous_response_id: id }))).toBe(404)
    expect(await reader.responses.retrieve(id)).toMatchObject({ id, output_text: 'Hello.' })
    expect(await status(reader.responses.delete(id))).toBe(403)
    const { data } = await client.responses.inputItems.list(id)
    expect(data).toMatchObject([{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }])
    await client.responses.delete(id)
    expect(await status(client.responses.retrieve(id))).toBe(404)
  })

  test('lists the items of its input page by page', async () => {
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }))
    const { id } = await client.responses.create({ model, input })
    const contents: unknown[] = []
    for await (const item of client.responses.inputItems.list(id, { limit: 2 })) contents.push(item)
    expect(contents).toMatchObject([{ content: 'c' }, { content: 'b' }, { content: 'a' }])
    expect(await status(client.responses.inputItems.list(id, { after: 'none' }))).toBe(422)
  })

  test('that is not stored, or of which a part was removed, cannot be continued', async () => {
    const unstored = await client.responses.create({ model, input: 'Hi', store: false })
    expect(await status(client.responses.create({ model, input: 'Hi', previous_response_id: unstored.id }))).toBe(404)
    const first = await client.responses.create({ model, input: 'Hi' })
    const second = await client.responses.create({ model, input: 'Hi', previous_response_id: first.id })
    await client.responses.delete(first.id)
    await expect(client.responses.create({ model, input: 'Hi', previous_response_id: second.id })).rejects.toThrow(
      /404 Response resp_\w+, from which this conversation goes on, is not stored any more/,
    )
  })
})

describe('a reference to an item', () => {
  const refer = (id: string) => ({ type: 'item_reference' as const, id })
  const thanks = { role: 'user' as const, content: 'Thanks' }

  test('is replaced by the stored item, also in responses that continue it', async () => {
    answer = (response) => void response.end(reply({ reasoning: 'Hm.', content: 'Adding.', tool_calls: [call] }))
    const { output } = await client.responses.create({ model, input: 'Add.', tools: [tool] })
    answer = (response) => void response.end(reply({ content: 'Fine.' }))
    const input = [...output.map(({ id }) => refer(id!)), thanks]
    const second = await client.responses.create({ model, input })
    await client.responses.create({ model, input: 'Bye', previous_response_id: second.id })
    const messages = [
      { role: 'assistant', reasoning: 'Hm.', content: 'Adding.', tool_calls: [call] },
      { role: 'user', content: 'Thanks' },
    ]
    const more = [
      { role: 'assistant', content: 'Fine.' },
      { role: 'user', content: 'Bye' },
    ]
    expect(asked.slice(1)).toMatchObject([{ messages }, { messages: [...messages, ...more] }])
    const { data } = await client.responses.inputItems.list(second.id, { order: 'asc' })
    expect(data).toMatchObject([...output, thanks])
  })

  test('to an item of another entity, to an unknown item, or repeated, is rejected', async () => {
    const { output } = await client.responses.create({ model, input: 'Hi' })
    const unstored = await client.responses.create({ model, input: 'Hi', store: false })
    const [mine, gone] = [refer(output[0]!.id!), refer(unstored.output[0]!.id!)]
    const stranger = connect(await addKey(own.database.pool, `${entity}-others`))
    const isRejected = { status: 422, param: 'input.0.id' }
    await expect(stranger.responses.create({ model, input: [mine, thanks] })).rejects.toMatchObject(isRejected)
    await expect(client.responses.create({ model, input: [gone, thanks] })).rejects.toMatchObject(isRejected)
    await expect(client.responses.create({ model, input: [mine, mine] })).rejects.toMatchObject({ param: 'input.1.id' })
  })

  test('is bounded like a conversation', async () => {
    const { output, id } = await client.responses.create({ model, input: 'Hi' })
    await own.database.pool.query('UPDATE training.responses SET bytes = 17000000 WHERE id = $1', [id])
    const large = client.responses.create({ model, input: [refer(output[0]!.id!), thanks] })
    await expect(large).rejects.toMatchObject({ status: 422, param: 'input' })
  })
})

describe('storage', () => {
  const insert = (count: number, daysAgo: number, more: { root?: string; bytes?: number } = {}) =>
    own.database.pool.query(
      `INSERT INTO training.responses (id, entity, project, previous_id, root_id, created_at, bytes, input, response)
       SELECT $1 || n, $1, NULL, NULL, coalesce($4, $1 || n), now() - make_interval(days => $3, secs => n), $5, '[]', '{}'
       FROM generate_series(1, $2) n`,
      [entity, count, daysAgo, more.root ?? null, more.bytes ?? 4],
    )
  const count = async () => {
    const { rows } = await own.database.pool.query<{ count: number }>(
      'SELECT count(*) FROM training.responses WHERE entity = $1',
      [entity],
    )
    return rows[0]!.count
  }

  test.each([
    ['10,000 responses', 10_050, 4, 10_000],
    ['256 MiB', 40, 8 * 1024 * 1024, 32],
  ])('of an entity has at most %s: the oldest are removed', async (_, inserted, bytes, expected) => {
    await insert(inserted, 1, { bytes })
    const { id } = await client.responses.create({ model, input: 'Hi' })
    expect(await count()).toBeLessThanOrEqual(expected)
    expect(await client.responses.retrieve(id)).toMatchObject({ id })
    expect(await status(client.responses.retrieve(`${entity}${inserted}`))).toBe(404)
  })

  test('lasts for 30 days after the last response of a conversation', async () => {
    const { id } = await client.responses.create({ model, input: 'Hi' })
    await insert(2, 31)
    await own.database.pool.query(`UPDATE training.responses SET root_id = $2 WHERE id = $1`, [`${entity}1`, id])
    await expireResponses(own.database.pool)
    expect(await count()).toBe(2)
  })

  test('keeps no response of an entity that is erased at the same time', async () => {
    answer = (response) => {
      const key = randomUUID()
      const erase = own.database.pool.query('INSERT INTO training.erasures (id, entity, key_id) VALUES ($1, $2, $3)', [
        key,
        entity,
        key,
      ])
      void erase.then(() => response.end(reply({ content: 'Hello.' })))
    }
    await client.responses.create({ model, input: 'Hi' })
    expect(await count()).toBe(0)
  })
})

test.each<[string, object, string]>([
  ['a background', { background: true }, 'background'],
  ['a conversation', { conversation: 'conv_1' }, 'conversation'],
  ['a template', { prompt: { id: 'p' } }, 'prompt'],
  ['a tool of OpenAI', { tools: [{ type: 'web_search' }] }, 'tools.0.type'],
  ['a tool choice without tools', { tool_choice: 'required' }, 'tool_choice'],
  ['an item of another type', { input: [{ type: 'computer_call' }] }, 'input.0.type'],
  ['an unknown item id', { input: [{ type: 'item_reference', id: 'x' }] }, 'input.0.id'],
  ['a message with an unknown role', { input: [{ role: 'king', content: 'x' }] }, 'input.0.role'],
  ['a file', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'x' }] }] }, 'input.0.content.0'],
  [
    'the URL of an image',
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://x.test/a.png' }] }] },
    'input.0.content.0.image_url.url',
  ],
  ['nothing', { input: [] }, 'input'],
  ['a reply that is too long', { n: 1, max_output_tokens: 0 }, 'max_output_tokens'],
  ['a chat template', { chat_template_kwargs: { chat_template: 'x' } }, 'chat_template_kwargs.chat_template'],
  [
    'a large schema',
    { text: { format: { type: 'json_schema', name: 'a', schema: { a: 'b'.repeat(70_000) } } } },
    'text.format',
  ],
  ['too much metadata', { metadata: { a: 'b'.repeat(513) } }, 'metadata.a'],
  ['an unknown include', { include: ['all'] }, 'include'],
])('%s is rejected, with its location', async (_, more, param) => {
  const asking = client.post('/responses', { body: { model, input: 'Hi', ...more } })
  await expect(asking).rejects.toMatchObject({ status: 422, param })
  expect(asked).toEqual([])
})

test("an engine's error has its location in the request", async () => {
  answer = (response) => {
    response.statusCode = 400
    response.end(
      JSON.stringify({ error: { message: 'too much', type: 'BadRequestError', param: 'max_completion_tokens' } }),
    )
  }
  await expect(client.responses.create({ model, input: 'Hi' })).rejects.toMatchObject({ param: 'max_output_tokens' })
})
