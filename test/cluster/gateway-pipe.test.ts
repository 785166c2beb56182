import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addKey } from '../support/api-server.ts'
import { eventually, waitUntilStill } from '../support/eventually.ts'
import { useFakeEngine } from '../support/own-gateway.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const warnings = path.join(tmpdir(), `pipe-${randomUUID()}.warnings`)
const [engineName, name] = ['engines-own-name', 'alias']
const messages = [{ role: 'user', content: 'hi' }]
const own = useFakeEngine(stack, {
  model: engineName,
  answer: async (request, response) =>
    answer(response, JSON.parse((await buffer(request)).toString()) as Record<string, unknown>),
  env: { NODE_OPTIONS: `--trace-warnings --redirect-warnings=${warnings}` },
})
let entity: string
let key: string
let answer: (response: ServerResponse, body: Record<string, unknown>) => unknown

beforeAll(async () => {
  await own.database.pool.query('UPDATE training.base_models SET names = $1', [[engineName, name]])
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(own.database.pool, entity, 'member')
})

const chat = (more: object = {}, signal?: AbortSignal) =>
  post(`${own.server.url}/v1/chat/completions`, key, { model: name, messages, ...more }, { signal })
const usageOf = async () => {
  const api = createRest({ ...stack, url: own.server.url }, key)
  const { data } = await api.call<{ data: object[] }>('GET', '/v1/preview/usage')
  return data[0]
}
const piece = (model: string, content: string) =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"${model}","choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`
const counted = '"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2}'
const replyOf = (model: string, content: string) =>
  `{"id":"c","object":"chat.completion","created":1,"model":"${model}","choices":[{"message":{"content":"${content}"}}],${counted},"prompt_token_ids":[${'1,'.repeat(3_000)}1]}`
const sendReply = (response: ServerResponse, reply: string) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply) })
  response.end(reply)
}
const beginStream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

describe('a complete reply', () => {
  test.each([10, 200_000])('of %i bytes passes unchanged except for the name, and is charged', async (size) => {
    const content = `\\"model\\":\\"${engineName}\\"é`.repeat(Math.ceil(size / 30))
    answer = (response) => sendReply(response, replyOf(engineName, content))
    const response = await chat()
    const text = await response.text()
    expect(text).toBe(replyOf(name, content))
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    await eventually(async () =>
      expect(await usageOf()).toMatchObject({ requests: 1, prompt_tokens: 3, completion_tokens: 2 }),
    )
  })

  test('with its name in another place is collected, renamed and charged', async () => {
    const reply = { usage: { prompt_tokens: 3, completion_tokens: 2 }, filler: 'a'.repeat(100_000), model: engineName }
    answer = (response) => sendReply(response, JSON.stringify(reply, null, 1))
    expect(await (await chat()).json()).toEqual({ ...reply, model: name })
    await eventually(async () => expect(await usageOf()).toMatchObject({ requests: 1, prompt_tokens: 3 }))
  })

  test('is not read faster than its client reads it', async () => {
    let sent = 0
    answer = async (response) => {
      const megabyte = Buffer.alloc(1024 * 1024, 'a')
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 101 * megabyte.length })
      const begin = Buffer.alloc(megabyte.length, ' ')
      begin.write(`{"model":"${engineName}","text":"`)
      response.write(begin)
      for (sent = 1; sent < 100 && !response.destroyed; sent++)
        if (!response.write(megabyte)) await new Promise((resolve) => response.once('drain', resolve))
    }
    const { port, hostname } = new URL(own.server.url)
    const client = connect(Number(port), hostname).pause()
    const body = JSON.stringify({ model: name, messages })
    client.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await eventually(async () => expect(sent).toBeGreaterThan(0))
    expect(await waitUntilStill(() => sent)).toBeLessThan(60)
    client.destroy()
  })
})

describe('a stream', () => {
  test('passes with its names changed and without usage that the client did not request, and is charged', async () => {
    answer = async (response, body) => {
      expect(body).toMatchObject({ model: engineName, stream_options: { include_usage: true } })
      beginStream(response).write(piece(engineName, 'a'))
      await delay(20)
      // Several events in one piece, and one event in two pieces.
      response.write(piece(engineName, 'b') + piece(engineName, 'c') + piece(engineName, 'd').slice(0, 60))
      await delay(20)
      response.write(piece(engineName, 'd').slice(60))
      response.end(`data: {"model":"${engineName}","choices":[],${counted}}\n\ndata: [DONE]\n\n`)
    }
    const response = await chat({ stream: true })
    expect(await response.text()).toBe(
      ['a', 'b', 'c', 'd'].map((text) => piece(name, text)).join('') + 'data: [DONE]\n\n',
    )
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    await eventually(async () =>
      expect(await usageOf()).toMatchObject({ requests: 1, prompt_tokens: 3, completion_tokens: 2 }),
    )
  })

  test('that the engine cuts off ends with an error event, and is charged for its sampled tokens', async () => {
    answer = async (response) => {
      beginStream(response).write(piece(engineName, 'a') + piece(engineName, 'b'))
      await delay(50)
      response.destroy()
    }
    const text = await (await chat({ stream: true })).text()
    const events = text.split('\n\n')
    expect(events.slice(0, 2).map((event) => `${event}\n\n`)).toEqual([piece(name, 'a'), piece(name, 'b')])
    expect(JSON.parse(events[2]!.replace('data: ', ''))).toMatchObject({
      error: {
        code: 'engine_unavailable',
        message: 'The engine closed the connection before its answer was complete.',
      },
    })
    expect(events.slice(3)).toEqual([''])
    await eventually(async () => expect(await usageOf()).toMatchObject({ requests: 1, completion_tokens: 2 }))
  })

  test('is not read faster than its client reads it', async () => {
    const events = piece(engineName, 'a'.repeat(1_000)).repeat(1_000)
    const count = 60
    let sent = 0
    answer = async (response) => {
      beginStream(response)
      for (; sent < count; sent++) if (!response.write(events)) await once(response, 'drain')
      response.end('data: [DONE]\n\n')
    }
    const { body } = await chat({ stream: true })
    // Sockets and streams hold some megabytes of the sixty.
    expect(await waitUntilStill(() => sent)).toBeLessThan(count / 3)
    const text = await new Response(body).text()
    expect(text.split(`"model":"${name}"`)).toHaveLength(count * 1_000 + 1)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('is aborted at once when its client leaves', async () => {
    const left = Promise.withResolvers<number>()
    answer = (response) => {
      response.once('close', () => left.resolve(performance.now()))
      beginStream(response).write(piece(engineName, 'a'))
    }
    const client = new AbortController()
    const response = await chat({ stream: true }, client.signal)
    await response.body!.getReader().read()
    const leftMs = performance.now()
    client.abort()
    // 50 ms on a machine that has nothing else to do.
    expect((await left.promise) - leftMs).toBeLessThan(1_000)
  })

  test('has no chunked encoding for a client of HTTP/1.0', async () => {
    answer = (response) => beginStream(response).end(piece(engineName, 'a'))
    const { port, hostname } = new URL(own.server.url)
    const client = connect(Number(port), hostname)
    const body = JSON.stringify({ model: name, messages, stream: true })
    client.write(
      `POST /v1/chat/completions HTTP/1.0\r\nauthorization: Bearer ${key}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const reply = (await buffer(client)).toString()
    expect(reply.slice(reply.indexOf('\r\n\r\n') + 4)).toBe(piece(name, 'a'))
  })

  test('causes no warnings, concurrently with 49 others', async () => {
    answer = async (response) => {
      beginStream(response)
      for (let sent = 0; sent < 10; sent++) {
        response.write(piece(engineName, 'a'))
        await delay(10)
      }
      response.end('data: [DONE]\n\n')
    }
    const stream = async () => (await chat({ stream: true })).text()
    const texts = await Promise.all(Array.from({ length: 50 }, stream))
    expect(new Set(texts)).toEqual(new Set([piece(name, 'a').repeat(10) + 'data: [DONE]\n\n']))
    const written = await readFile(warnings, 'utf8').catch(() => '')
    expect(written).not.toContain('MaxListenersExceededWarning')
  })
})

test.each([
  ['/v1/chat/completions/', 200],
  ['/V1/Chat/Completions?a=1', 200],
  ['/v1/chat/completions//', 404],
])('POST %s is %i', async (route, status) => {
  answer = (response) => sendReply(response, replyOf(engineName, 'x'))
  const response = await post(own.server.url + route, key, { model: name, messages })
  expect(response.status).toBe(status)
  await response.text()
})

test("a reply has the request's id, and an error has the id that the client sent", async () => {
  answer = (response) => sendReply(response, replyOf(engineName, 'x'))
  expect((await chat()).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  const named = { headers: { 'x-request-id': 'mine' } }
  const rejected = await post(`${own.server.url}/v1/chat/completions`, key, '{', named)
  expect([rejected.status, rejected.headers.get('x-request-id')]).toEqual([422, 'mine'])
  expect(await rejected.json()).toMatchObject({
    detail: [{ type: 'json_invalid' }],
    error: { code: 'invalid_request' },
  })
})
