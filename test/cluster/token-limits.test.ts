import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { addKey, type ServedApi } from '../support/api-server.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { useFakeEngine } from '../support/own-gateway.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const model = 'counted'
const own = useFakeEngine(stack, { model, answer: answerChat, count: 2 })
let entity: string
let key: string
let sampled: number

/** Reports `sampled` sampled tokens. A stream never ends. */
async function answerChat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { stream } = JSON.parse((await buffer(request)).toString()) as { stream?: boolean }
  const common = { id: 'chat', created: 0, model }
  if (stream) {
    response.setHeader('content-type', 'text/event-stream')
    const delta = { role: 'assistant', content: 'Hello' }
    const event = { ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] }
    response.write(`data: ${JSON.stringify(event)}\n\n`)
    return
  }
  const message = { role: 'assistant', content: 'Hello.' }
  const usage = { prompt_tokens: 10, total_tokens: 10 + sampled, completion_tokens: sampled }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const reply = Buffer.from(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length })
  response.end(reply)
}

beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(own.database.pool, entity)
  sampled = 5
})

const limit = async (tokensPerMinute: number) => {
  await setLimits(own.database.pool, entity, { tokensPerMinute })
}
const chat = (more: object = {}, { server = own.server, ...init }: RequestInit & { server?: ServedApi } = {}) =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 100, ...more }),
    ...init,
  })
const readHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit-')))

test('answers have the remaining tokens, in the headers that SDKs read', async () => {
  expect(Object.keys(readHeaders(await chat()))).toEqual([
    'x-ratelimit-limit-requests',
    'x-ratelimit-remaining-requests',
    'x-ratelimit-reset-requests',
  ])
  await limit(1_000)
  await chat()
  // What a chat has reserved and not used is given back after its answer.
  const headers = await eventually(async () => {
    const next = readHeaders(await chat())
    expect(Number(next['x-ratelimit-remaining-tokens'])).toBeGreaterThan(800)
    return next
  })
  expect(headers).toMatchObject({
    'x-ratelimit-limit-requests': '60000',
    'x-ratelimit-remaining-requests': expect.stringMatching(/^599\d\d$/) as string,
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-reset-tokens': expect.stringMatching(/^\d{2}s$/) as string,
  })
  // The first chat used 15, and this one reserves its maximum length.
  const left = Number(headers['x-ratelimit-remaining-tokens'])
  expect(left).toBeLessThan(1_000 - 15 - 100)
})

test.each([
  ['/v1/completions', { prompt: 'hi' }],
  ['/v1/embeddings', { input: 'hi' }],
  ['/v1/responses', { input: 'hi' }],
  ['/v1/responses', { input: 'hi', stream: true }],
])('answers of %s have them too, and so have errors: %j', async (path, body) => {
  await setLimits(own.database.pool, entity, { requestsPerMinute: 2, tokensPerMinute: 10_000 })
  const send = () => post(own.server.url + path, key, { model, ...body })
  const reported = await send()
  await reported.body?.cancel()
  expect([reported.status, readHeaders(reported)]).toEqual([
    200,
    {
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': expect.stringMatching(/^\d+m?s$/) as string,
      'x-ratelimit-limit-tokens': '10000',
      'x-ratelimit-remaining-tokens': expect.stringMatching(/^\d+$/) as string,
      'x-ratelimit-reset-tokens': expect.stringMatching(/^\d+m?s$/) as string,
    },
  ])
  expect((await send()).status).toBe(200)
  const refused = await send()
  expect([refused.status, refused.headers.get('x-ratelimit-remaining-requests')]).toEqual([429, '0'])
})

test('a chat is charged for the tokens that it used, not for its estimate', async () => {
  await limit(1_000)
  for (let times = 0; times < 30; times++) expect((await chat()).status).toBe(200)
})

test('tokens beyond the estimate reduce later budgets, in every process', async () => {
  await limit(1_000)
  sampled = 5_000
  expect((await chat()).status).toBe(200)
  for (const server of own.servers)
    await eventually(async () => {
      const refused = await chat({}, { server })
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30)
      expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('0')
      expect(await refused.text()).toContain(`${entity} has reached its limit tokens_per_minute (1000)`)
    }, 5_000)
})

test('of many chats in two processes, as many succeed as there are tokens for, or a few less', async () => {
  await limit(3_000)
  sampled = 90
  const outcomes: number[] = []
  let statuses: number[]
  do {
    const racing = Array.from({ length: 30 }, (_, index) => chat({}, { server: own.servers[index % 2]! }))
    statuses = (await Promise.all(racing)).map(({ status }) => status)
    outcomes.push(...statuses)
    // A process that got no tokens asks again after a second. By then, others have returned theirs.
    await setTimeout(1_100)
  } while (statuses.includes(200))
  const used = 100 * outcomes.filter((status) => status === 200).length
  expect(new Set(outcomes)).toEqual(new Set([200, 429]))
  expect(used).toBeLessThanOrEqual(3_000)
  // Each process may keep a block. The tokens that are left are fewer than the estimate of one chat.
  expect(used).toBeGreaterThan(3_000 - 2 * 60 - 150)
})

test('a client that leaves before the end is charged for its prompt', async () => {
  await limit(1_000)
  const messages = [{ role: 'user', content: 'x'.repeat(2_400) }]
  const leaving = new AbortController()
  const left = await chat({ messages, stream: true, max_tokens: 1 }, { signal: leaving.signal })
  await left.body!.getReader().read()
  leaving.abort()
  await eventually(async () => expect((await chat({ messages })).status).toBe(429), 5_000)
})

test('a request that is larger than the limit uses all of it, and a limit of 0 rejects every request', async () => {
  await limit(50)
  expect((await chat()).status).toBe(200)
  await limit(0)
  expect((await chat()).status).toBe(429)
})
