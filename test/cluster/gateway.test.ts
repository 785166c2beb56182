import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { addKey } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { useFakeEngineAndProcess } from '../support/own-gateway.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const model = 'fake'
const megabyte = 1024 * 1024
const messages = [{ role: 'user', content: 'hi' }]
// A third of the heap in a pod of 2 GiB.
const env = { NODE_OPTIONS: '--max-old-space-size=512' }
const own = useFakeEngineAndProcess(stack, { model, answer: answerChat, env })
let entity: string
let key: string

/** The requests that engines received. `answer` sends the next response. */
const asked: Record<string, unknown>[] = []
let answer: (response: ServerResponse, body: Record<string, unknown>) => void | Promise<void>

const replyOf = (more: object = {}) => ({
  id: 'chat',
  object: 'chat.completion',
  created: 0,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  ...more,
})

async function answerChat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse((await buffer(request)).toString()) as Record<string, unknown>
  asked.push(body)
  response.setHeader('content-type', 'application/json')
  await answer(response, body)
}

beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(own.database.pool, entity, 'read')
  asked.length = 0
  answer = (response) => void response.end(JSON.stringify(replyOf()))
})

const send = (path: string, body: string | object, bearer = key) => post(own.server.url + path, bearer, body)
const chat = (body: object, bearer = key) => send('/v1/chat/completions', { model, messages, ...body }, bearer)
const readDetail = async (response: Response) => {
  const { detail } = (await response.json()) as { detail: string | { loc: string[]; msg: string }[] }
  return typeof detail === 'string' ? detail : detail.map(({ msg }) => msg).join('; ')
}
const complete = async (inputs: object) => {
  const body = { project_id: `${entity}/chats`, inputs: { model, messages, ...inputs }, track_llm_call: false }
  const response = await send('/traces/completions/create', body)
  return { status: response.status, body: (await response.json()) as { response: { error?: string } } }
}
/** The peak memory of the server. */
const readPeakBytes = async () => {
  const status = await readFile(`/proc/${own.server.pid}/status`, 'utf8')
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1])
}
const isUp = async () => (await fetch(`${own.server.url}/v1/health`)).ok

describe('bodies', () => {
  test('six concurrent bodies of sixteen megabytes do not end the process, whatever they contain', async () => {
    const many = `{"model":"none","messages":[{"role":"user","content":[${'{},'.repeat(5_500_000)}{}]}]}`
    const long = JSON.stringify({ model: 'none', messages: [{ role: 'user', content: 'é'.repeat(7 * megabyte) }] })
    for (const body of [many, long]) {
      const sent = await Promise.all(Array.from({ length: 6 }, () => send('/v1/chat/completions', body)))
      const statuses = new Set(sent.map(({ status }) => status))
      expect([...statuses].filter((status) => ![404, 422, 429, 503].includes(status))).toEqual([])
      expect(await isUp()).toBe(true)
    }
    expect(await readPeakBytes()).toBeLessThan(1_024 * megabyte)
    expect((await chat({})).status).toBe(200)
  })

  test('a chat with too many parts is rejected, and the error names the limit', async () => {
    const response = await chat({ messages: [{ role: 'user', content: Array.from({ length: 100_001 }, () => ({})) }] })
    expect([response.status, await readDetail(response)]).toEqual([
      422,
      expect.stringContaining('at most 100000 objects and lists in all') as string,
    ])
  })

  test('a waiting chat reserves memory only for its body, and an answered one reserves none', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    answer = async (response) => {
      await released
      response.end(JSON.stringify(replyOf()))
    }
    // Four of these chats, with their parsed values, exceed the memory of a team.
    const body = { messages: [{ role: 'user', content: 'a'.repeat(7 * megabyte) }] }
    const waiting: Promise<Response>[] = []
    for (const count of [1, 2, 3, 4]) {
      waiting.push(chat(body))
      await eventually(async () => expect(asked).toHaveLength(count))
    }
    release()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
})

describe('variables of a template', () => {
  const hostile = {
    template_vars: { a: 'b'.repeat(megabyte) },
    messages: Array.from({ length: 16 }, () => ({ content: '{a}'.repeat(400) })),
  }

  test('that would make a chat too large are rejected, and the error names the limit', async () => {
    const { status, body } = await complete(hostile)
    expect([status, body.response.error]).toEqual([
      200,
      expect.stringContaining('the chat with its template variables is larger than 16777216 bytes') as string,
    ])
    expect(await isUp()).toBe(true)
  })

  test('are not filled in for a model that does not exist', async () => {
    expect((await complete({ ...hostile, model: 'none' })).body.response.error).toBe(
      'The model none does not exist. GET /v1/models lists all models.',
    )
  })

  test('are filled in', async () => {
    await complete({ template_vars: { a: 'b' }, messages: [{ role: 'user', content: '{a}' }] })
    expect(asked).toMatchObject([{ messages: [{ role: 'user', content: 'b' }] }])
  })
})

describe('requests that do not reach engines', () => {
  test.each([
    ['a template', { chat_template: '{{ 1 }}' }, 'chat_template is not accepted'],
    [
      'a media URL',
      { messages: [{ role: 'user', content: [{ image_url: 'http://localhost' }] }] },
      'Engines do not fetch URLs',
    ],
    ['a large enum', { structured_outputs: { json: { enum: Array(1_001).fill('a') } } }, 'at most 1000 choices'],
    ['a large reply', { n: 1_024, max_tokens: 10_000, logprobs: true, top_logprobs: 20 }, '268435456'],
    ['too many messages', { messages: Array(10_001).fill(messages[0]) }, 'at most 10000 items'],
  ])('%s', async (_, more, message) => {
    const response = await chat(more)
    expect([response.status, await readDetail(response)]).toEqual([422, expect.stringContaining(message) as string])
    expect((await complete(more)).body.response.error).toContain(message)
    expect(asked).toEqual([])
  })
})

test('for a grammar that an engine cannot use, clients get a 400 with its message; other errors of requests are 422', async () => {
  const sendError = (type: string) => (response: ServerResponse) => {
    response.statusCode = 400
    response.end(JSON.stringify({ error: { message: 'make it simpler', type, param: 'response_format', code: 400 } }))
  }
  answer = sendError('GrammarError')
  const response = await chat({ response_format: { type: 'json_object' } })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { detail: 'make it simpler', error: { code: 'unusable_grammar', message: 'make it simpler' } },
  ])
  expect((await complete({})).body.response.error).toContain('make it simpler')
  answer = sendError('BadRequestError')
  expect((await chat({})).status).toBe(422)
})

test('entities share no cached prompts, and all processes of an installation use the same salts', async () => {
  const others = await addKey(own.database.pool, `${entity}-others`, 'read')
  await chat({})
  await chat({ cache_salt: null })
  await chat({ cache_salt: 'own' })
  await chat({}, others)
  await complete({})
  const [first, second, salted, foreign, traced] = asked.map(({ cache_salt: salt }) => salt)
  expect(first).toMatch(/^[\w-]{43}$/)
  expect([second, traced]).toEqual([first, first])
  expect(new Set([first, salted, foreign]).size).toBe(3)
})

describe('replies', () => {
  /** Sends this many megabytes. Returns whether the client disconnected before the end. */
  const pour = async (response: ServerResponse, megabytes: number): Promise<boolean> => {
    response.write('{"id":"')
    const piece = Buffer.alloc(megabyte, 'a')
    for (let sent = 0; sent < megabytes && !response.destroyed; sent++) {
      if (!response.write(piece))
        await Promise.race([new Promise((resolve) => response.once('drain', resolve)), delay(1_000)])
    }
    if (!response.destroyed) response.end('"}')
    return response.destroyed
  }

  test('beyond the limit are cut off, and their connection to the engine is closed', async () => {
    let left: Promise<boolean> = Promise.resolve(false)
    answer = (response) => {
      left = pour(response, 400)
    }
    const response = await chat({})
    expect([response.status, await readDetail(response)]).toEqual([
      422,
      expect.stringMatching(/^The reply is larger than \d+ bytes\. Set max_tokens/) as string,
    ])
    expect(await left).toBe(true)
    expect(await isUp()).toBe(true)
    answer = (next) => void pour(next, 20)
    expect((await (await chat({})).text()).length).toBeGreaterThan(20 * megabyte)
  })

  test('that are errors are read only in part', async () => {
    let left: Promise<boolean> = Promise.resolve(false)
    answer = (response) => {
      response.statusCode = 400
      left = pour(response, 50)
    }
    const response = await chat({})
    expect([response.status, await readDetail(response)]).toEqual([422, 'The engine refused the request'])
    expect(await left).toBe(true)
  })

  test('with an event that does not end are cut off', async () => {
    answer = (response) => {
      response.setHeader('content-type', 'text/event-stream')
      void pour(response, 100)
    }
    await expect(chat({ stream: true }).then((response) => response.text())).rejects.toThrow()
    expect(await isUp()).toBe(true)
  })
})
