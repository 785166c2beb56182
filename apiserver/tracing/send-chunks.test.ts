import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import Koa from 'koa'
import { afterEach, expect, test, vi } from 'vitest'
import { RevocableResponses } from '../accounts/keys/revocable-responses.ts'
import { noLease } from '../../test/support/leases.ts'
import { sendChunks } from './send-chunks.ts'

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Serves `chunks` for every request. `ended` resolves when the generator has ended. */
async function serve(chunks: () => AsyncGenerator<string>, times: { stallMs?: number; deadlineMs?: number }) {
  const ended = Promise.withResolvers<void>()
  const responses = new RevocableResponses(undefined as never, noLease)
  const follow = vi.spyOn(responses, 'track')
  async function* watched() {
    try {
      yield* chunks()
    } finally {
      ended.resolve()
    }
  }
  const app = new Koa()
  app.on('error', () => {})
  app.use(async (ctx) => {
    ctx.state = { caller: { keyId: 'key', entity: 'team', role: 'read', weight: 1 } }
    const answer = { type: 'application/jsonl', chunks: watched(), ...times }
    await sendChunks(ctx, { responses }, answer)
  })
  const callback = app.callback()
  server = createServer((request, response) => void callback(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { ended: ended.promise, follow, url: `http://127.0.0.1:${port}` }
}

/** Sends a request and does not read the response. */
function ask(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.on('error', () => {})
      resolve(response)
    }).on('error', reject)
  })
}

test('a client that waits for the next chunk does not count as stalled', async () => {
  async function* slow() {
    yield 'first\n'
    await delay(600)
    yield 'second\n'
  }
  const { url } = await serve(slow, { stallMs: 100 })
  expect(await (await fetch(url)).text()).toBe('first\nsecond\n')
})

test.each([
  ['while more chunks follow', Infinity],
  ['after the last chunk', 1],
])('a stalled client is disconnected %s', async (_, count) => {
  async function* much() {
    for (let given = 0; given < count; given++) yield await Promise.resolve('x'.repeat(16 * 1024 * 1024))
  }
  const { url, ended } = await serve(much, { stallMs: 200 })
  const response = await ask(url)
  await ended
  await vi.waitFor(() => expect(countConnections()).resolves.toBe(0), 5_000)
  response.destroy()
})

function countConnections(): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}

test('a client that reads a little at a time has a deadline', async () => {
  async function* endless() {
    for (;;) {
      await delay(20)
      yield 'x\n'
    }
  }
  const { url, ended } = await serve(endless, { deadlineMs: 300 })
  const response = await fetch(url)
  await expect(response.text()).rejects.toThrow('terminated')
  await ended
})

test('a client that leaves before the first chunk leaves no resources behind', async () => {
  const begun = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  async function* late() {
    begun.resolve()
    await left.promise
    yield 'x'
    yield 'y'
  }
  const { url, ended, follow } = await serve(late, {})
  const asked = get(url, { agent: false }).on('error', () => {})
  await begun.promise
  asked.destroy()
  await vi.waitFor(() => expect(countConnections()).resolves.toBe(0), 5_000)
  left.resolve()
  await ended
  expect(follow).not.toHaveBeenCalled()
})
