import { HttpError } from '../../../lib/http/http-error.ts'
import { EventEmitter } from 'node:events'
import { createServer, request, type ClientRequest, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBody } from '../../../lib/http/body.ts'
import { RequestMemory } from './request-memory.ts'

const outcomes = new EventEmitter()
const answers: ServerResponse[] = []
let server: Server

beforeAll(async () => {
  const memory = new RequestMemory(1_000)
  const app = new Koa()
  app.use(async (ctx) => {
    ctx.respond = false
    ctx.state = { caller: { entity: ctx.get('entity') } }
    const asked = ctx as never
    const isJson = ctx.path === '/json'
    const reading = isJson ? memory.readJson(asked, 10_000) : memory.open(asked).read(openBody(asked, 10_000))
    const status = await reading.then(
      () => 200,
      (error: unknown) => (error instanceof HttpError ? error.status : 500),
    )
    ctx.res.statusCode = status
    if (status === 200) answers.push(ctx.res)
    else ctx.res.end()
    outcomes.emit('read', status)
  })
  const callback = app.callback()
  server = createServer((incoming, response) => void callback(incoming, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => server.close())

/** Sends a body of this size; returns the result of reading it. */
const send = (bytes: number, entity = 'team') => sendText('x'.repeat(bytes), { entity })

async function sendText(text: string, { entity = 'team', path = '/' }): Promise<unknown> {
  const { port } = server.address() as AddressInfo
  const outcome = new Promise((resolve) => outcomes.once('read', resolve))
  const sent: ClientRequest = request({
    port,
    path,
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', entity },
  })
  sent.on('error', () => {})
  sent.on('response', (response) => response.resume())
  sent.end(text)
  return outcome
}

/** Answers all requests whose body was read. */
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
  expect(await send(900, 'one')).toBe(413)
  expect(await send(800, 'one')).toBe(200)
  await answerAll()
})

test('an entity has a quarter, or one body of any size; rejected bodies do not count', async () => {
  expect(await send(100)).toBe(200)
  expect(await send(200)).toBe(429)
  expect(await send(150)).toBe(200)
  expect(await send(250, 'others')).toBe(200)
  await answerAll()
  expect(await send(400)).toBe(200)
  expect(await send(1)).toBe(429)
  await answerAll()
})

test('the values of a JSON body count too, before they are built', async () => {
  const path = '/json'
  expect(await sendText('[{},{},{},{},{}]', { path })).toBe(200)
  expect(await sendText('[1]', { path })).toBe(429)
  expect(await sendText('[{},{}]', { path, entity: 'others' })).toBe(503)
  await answerAll()
  expect(await sendText('[{},{},{},{},{},{},{},{},{},{}]', { path })).toBe(413)
  expect(await sendText('[1,2,3]', { path })).toBe(200)
  await answerAll()
})

test("opening a request's reservation twice gives the same one", () => {
  const memory = new RequestMemory(1_000)
  const ctx = { state: { caller: { entity: 'team' } }, res: new EventEmitter() } as never
  expect(memory.open(ctx)).toBe(memory.open(ctx))
})

const tooMuch = expect.objectContaining({ status: 429 }) as Error

test('the memory of a handler counts until the handler has ended, even if its client has left', async () => {
  const memory = new RequestMemory(1_000)
  const res = Object.assign(new EventEmitter(), { closed: false })
  const ctx = { state: { caller: { entity: 'team' } }, res } as never
  const second = () => memory.open({ ...(ctx as object), res: new EventEmitter() } as never)
  const work = Promise.withResolvers<void>()
  const handled = memory.keepWhileWorking(ctx, async () => {
    memory.open(ctx).add(600)
    await work.promise
  })
  Object.assign(res, { closed: true }).emit('close')
  expect(() => second().add(1)).toThrow(tooMuch)
  work.resolve()
  await handled
  expect(() => second().add(1)).not.toThrow()
})
