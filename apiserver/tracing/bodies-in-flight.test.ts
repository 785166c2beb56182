import { EventEmitter } from 'node:events'
import { createServer, request, type ClientRequest, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BodiesInFlight } from './bodies-in-flight.ts'
import { Refusal } from '../refusal.ts'

const read = new EventEmitter()
const answers: ServerResponse[] = []
let server: Server

beforeAll(async () => {
  const bodies = new BodiesInFlight(1_000)
  const app = new Koa()
  app.use(async (ctx) => {
    ctx.respond = false
    const status = await bodies.read(ctx as never, 10_000).then(
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
async function send(bytes: number): Promise<unknown> {
  const { port } = server.address() as AddressInfo
  const outcome = new Promise((resolve) => read.once('read', resolve))
  const sent: ClientRequest = request({
    port,
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
  })
  sent.on('error', () => {})
  sent.on('response', (response) => response.resume())
  sent.end('x'.repeat(bytes))
  return outcome
}

test('bodies count until they are answered', async () => {
  expect(await send(600)).toBe(200)
  expect(await send(600)).toBe(503)
  expect(await send(300)).toBe(200)
  const closed = answers.map((answer) => new Promise((resolve) => answer.once('close', resolve)))
  for (const answer of answers) answer.end()
  await Promise.all(closed)
  expect(await send(900)).toBe(200)
  answers.at(-1)?.end()
})
