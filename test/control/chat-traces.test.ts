import { randomInt, randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFakeEngine } from '../support/fake-engine.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const namespace = `traced-${randomUUID()}`
const model = 'traced'
const messages = [{ role: 'user', content: 'hi' }]
let database: TestDatabase
let server: RunningApiServer
let engine: Server
let entity: string
let key: string

interface Call {
  op_name: string
  inputs: { messages: unknown; model: string; stream?: boolean }
  output: { choices: { message: { content: string } }[] } | null
  exception: string | null
  summary: { usage: Record<string, Record<string, number>> }
}

async function answerChat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { stream } = JSON.parse((await buffer(request)).toString()) as { stream?: boolean }
  const common = { id: 'chat', created: 0, model }
  const usage = { prompt_tokens: 3, total_tokens: 5, completion_tokens: 2 }
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }]
    const reply = Buffer.from(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length })
    response.end(reply)
    return
  }
  const chunk = { ...common, object: 'chat.completion.chunk' }
  const events = ['Hel', 'lo.'].map((content) => ({ ...chunk, choices: [{ index: 0, delta: { content } }] }))
  response.setHeader('content-type', 'text/event-stream')
  for (const event of [...events, { ...chunk, choices: [], usage }])
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end('data: [DONE]\n\n')
}

beforeAll(async () => {
  database = await createTestDatabase()
  await stack.kubectl('create', 'namespace', namespace)
  const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const place = { kubectl: stack.kubectl, namespace, pool: database.pool, address, baseModel: model }
  engine = await startFakeEngine(place, (request, response) => void answerChat(request, response))
  server = await startApiServer(stack, database.databaseUrl, { TRAINYARD_NAMESPACE: namespace })
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(database.pool, entity)
})
afterAll(async () => {
  await server?.remove()
  engine?.closeAllConnections()
  engine?.close()
  await stack.kubectl('delete', 'namespace', namespace, '--wait=false')
  await database?.drop()
})

const post = (path: string, body: object, headers: Record<string, string> = {}, bearer = key) =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const traced = () => ({ 'trainyard-trace': 'true', 'vendor-project': `${entity}/chats` })
const chat = (more: object = {}, headers: Record<string, string> = traced(), bearer = key) =>
  post('/v1/chat/completions', { model, messages, ...more }, headers, bearer)
const readCalls = async () => {
  const response = await post('/traces/calls/stream_query', { project_id: `${entity}/chats` })
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Call)
}
const untilCalls = async (count: number) => {
  let calls: Call[] = []
  await eventually(async () => {
    calls = await readCalls()
    expect(calls).toHaveLength(count)
  }, 10_000)
  return calls
}

test.each([
  ['plain', {}],
  ['streamed', { stream: true }],
])('a chat is recorded, and answered as always: %s', async (_, more) => {
  const untraced = await (await chat(more, {})).text()
  expect(await (await chat(more)).text()).toBe(untraced)
  const [call] = await untilCalls(1)
  expect(call).toMatchObject({
    op_name: 'openai.chat.completions.create',
    inputs: { model, messages, ...more },
    output: { choices: [{ message: { content: 'Hello.' } }] },
    exception: null,
    summary: { usage: { [model]: { requests: 1, prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } } },
  })
  expect(call!.inputs).not.toHaveProperty('cache_salt')
})

test('a key that only reads may not, and a base model needs a project', async () => {
  const reader = await addKey(database.pool, entity, 'read')
  expect((await chat({}, traced(), reader)).status).toBe(403)
  const warned = await chat({}, { 'trainyard-trace': 'true' })
  expect(warned.status).toBe(200)
  expect(warned.headers.get('trainyard-warning')).toContain('Trainyard-Trace needs the header Vendor-Project')
})

test('a chat that is too large is answered and not recorded; neither is one whose entity has no storage left', async () => {
  const large = [{ role: 'user', content: 'x'.repeat(1_100_000) }]
  expect((await chat({ messages: large })).status).toBe(200)
  const full = `full-${entity}`
  const fullKey = await addKey(database.pool, full)
  await database.pool.query('INSERT INTO auth.entities (entity, stored_bytes) VALUES ($1, 10)', [full])
  const headers = { ...traced(), 'vendor-project': `${full}/chats` }
  expect((await chat({}, headers, fullKey)).status).toBe(200)
  await chat()
  const [call] = await untilCalls(1)
  expect(call!.inputs.messages).toEqual(messages)
  const { rows } = await database.pool.query(
    `SELECT FROM tracing.calls JOIN tracing.projects ON project = number WHERE entity = $1`,
    [full],
  )
  expect(rows).toHaveLength(0)
})

test('many chats of an entity are recorded while it goes on', async () => {
  await Promise.all(Array.from({ length: 60 }, async () => (await chat()).text()))
  await untilCalls(60)
})
