import { EventEmitter } from 'node:events'
import { createServer, request, type ClientRequest, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Refusal } from '../refusal.ts'
import { RequestMemory } from './request-memory.ts'

const read = new EventEmitter()
const answers: ServerResponse[] = []
let server: Server

beforeAll(async () => {
  const memory = new RequestMemory(1_000)
  const app = new Koa()
  app.use(async (ctx) => {
    ctx.respond = false
    ctx.state = { caller: { entity: ctx.get('entity') } }
    const status = await memory.readBody(ctx as never, 10_000).then(
      () => 200,
      (error: unknown) => (error instanceof Refusal ? error.status : 500),
    )
    ctx.res.statusCode = status
    if (status === 200) answers.push(ctx.res)
    else ctx.res.end()
    read.emit('read', status)
  })
  const callback = app.callback()
  server = createServer((incoming, response) => void callback(incoming, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => server.close())

/** Sends a body; answers with what became of reading it. */
async function send(bytes: number, entity = 'team'): Promise<unknown> {
  const { port } = server.address() as AddressInfo
  const outcome = new Promise((resolve) => read.once('read', resolve))
  const sent: ClientRequest = request({
    port,
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', entity },
  })
  sent.on('error', () => {})
  sent.on('response', (response) => response.resume())
  sent.end('x'.repeat(bytes))
  return outcome
}

/** Answers what was read. */
async function answerAll(): Promise<void> {
  const open = answers.splice(0)
  const closed = open.map((answer) => new Promise((resolve) => answer.once('close', resolve)))
  for (const answer of open) answer.end()
  await Promise.all(closed)
}

test('bodies count until they are answered', async () => {
  expect(await send(600, 'one')).toBe(200)
  expect(await send(600, 'two')).toBe(503)
  expect(await send(300, 'three')).toBe(200)
  await answerAll()
  expect(await send(900, 'one')).toBe(200)
  await answerAll()
})

test('an entity has a quarter, or one body of any size; what is refused does not count', async () => {
  expect(await send(100)).toBe(200)
  expect(await send(200)).toBe(429)
  expect(await send(150)).toBe(200)
  expect(await send(250, 'others')).toBe(200)
  await answerAll()
  expect(await send(400)).toBe(200)
  expect(await send(1)).toBe(429)
  await answerAll()
})
