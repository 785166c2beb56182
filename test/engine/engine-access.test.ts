import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { podSelectors } from '../support/kill.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
let pool: Pool
let engine: string
let engineKey: string

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  engine = await stack.kubectl('get', 'pods', '-l', podSelectors.engine, '-o', 'jsonpath={.items[0].status.podIP}')
  const key = await stack.kubectl('get', 'secret', 'trainyard-secrets', '-o', 'jsonpath={.data.engine-key}')
  engineKey = Buffer.from(key, 'base64').toString()
})
afterAll(() => pool.end())

async function ask(method: string, path: string, authorization?: string): Promise<number> {
  const response = await fetch(`http://${engine}:8000${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    ...(method === 'POST' && { body: '{}' }),
  })
  await response.body?.cancel()
  return response.status
}

describe("an engine's port", () => {
  const unused = ['GET /ping', 'POST /invocations', 'POST /adapters', 'DELETE /adapters/x', 'GET /metrics', 'GET /docs']
  const dangerous = ['POST /v1/load_lora_adapter', 'POST /v1/responses', 'GET /openapi.json']
  const used = [
    'GET /version',
    'GET /v1/models',
    'POST /v1/chat/completions',
    'POST /tokenize',
    'POST /v1/unload_lora_adapter',
    'PUT /v1/kept_lora_adapters',
  ]

  test.each([...unused, ...dangerous, ...used])('%s is 401 without the key', async (operation) => {
    const [method = '', path = ''] = operation.split(' ')
    expect(await ask(method, path)).toBe(401)
    expect(await ask(method, path, 'Bearer wrong')).toBe(401)
  })

  test.each([...unused, ...dangerous])('%s is not served, even with the key', async (operation) => {
    const [method = '', path = ''] = operation.split(' ')
    expect(await ask(method, path, `Bearer ${engineKey}`)).toBe(404)
  })

  test('serves its health without the key, and its models only with it', async () => {
    expect(await ask('GET', '/health')).toBe(200)
    expect(await ask('GET', '/v1/models', `Bearer ${engineKey}`)).toBe(200)
  })
})

test('metrics have their own port and name no checkpoint', async () => {
  const response = await fetch(`http://${engine}:8001/metrics`)
  const text = await response.text()
  expect(text).toContain('vllm:num_requests_running')
  expect(text).not.toContain('lora_requests_info')
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/)
})

test('an engine says how many requests it can run', async () => {
  const health = await fetch(`http://${engine}:8000/health`)
  expect(health.headers.get('x-trainyard-max-requests')).toMatch(/^[1-9]\d*$/)
})

test('an engine stops a request within a second after its client has left', async () => {
  // vLLM sets this gauge after each step, and one step follows the last request: so it is not delayed by an interval.
  const countRunning = async () => {
    const metrics = await (await fetch(`http://${engine}:8001/metrics`)).text()
    return Number(/^vllm:num_requests_running\S* (\S+)$/m.exec(metrics)![1])
  }
  const key = await addKey(pool, `team-${randomUUID()}`)
  const measureStop = async () => {
    const leaving = new AbortController()
    const answer = chat(key, { stream: true, max_tokens: 3_500, ignore_eos: true }, leaving.signal)
    await eventually(async () => expect(await countRunning()).toBe(1), 60_000, 20)
    const leftMs = performance.now()
    leaving.abort()
    await expect(answer).rejects.toThrow('aborted')
    await eventually(async () => expect(await countRunning()).toBe(0), 60_000, 20)
    return performance.now() - leftMs
  }
  const took: number[] = []
  for (let times = 0; times < 5; times++) took.push(await measureStop())
  console.info(`the engine had stopped ${took.map((ms) => ms.toFixed(0)).join(', ')} ms after the client had left`)
  // Other programs of the machine may delay some of them.
  expect(Math.min(...took)).toBeLessThan(1_000)
})

interface Reply {
  status: number
  text: string
}

async function chat(key: string, more: object, signal?: AbortSignal): Promise<Reply> {
  const body = { model: stack.baseModel, messages: [{ role: 'user', content: 'x' }], max_tokens: 4, ...more }
  const response = await post(`${stack.url}/v1/chat/completions`, key, body, { signal })
  return { status: response.status, text: await response.text() }
}

/** A grammar of a few kilobytes that takes seconds to compile, and as long for a token. `salt` makes it unique. */
function entangle(salt: string): object {
  const rules = Array.from({ length: 60 }, (_, index) => {
    const [near, far] = [(index * 7 + 1) % 60, (index * 3 + 2) % 60]
    return `r${index} ::= r${near} r${far} | r${(index + 1) % 60} "${salt}" | [a-z]* | r${(index + 5) % 60} r${(index + 9) % 60}`
  })
  return { structured_outputs: { grammar: ['root ::= r0', ...rules].join('\n') } }
}

test('hostile grammars are rejected, and delay no others', async () => {
  const [hostile, other] = await Promise.all([
    addKey(pool, `team-${randomUUID()}`),
    addKey(pool, `team-${randomUUID()}`),
  ])
  const word = randomUUID()
  const leaving = new AbortController()
  let rejections = 0
  const flood = Array.from({ length: 41 }, async (_, index) => {
    const answer = await chat(hostile, { ...entangle(`${word} ${index}`), stream: index % 2 === 1 }, leaving.signal)
    if (answer.status === 400) rejections++
    return answer
  })
  const served = await chat(other, { structured_outputs: { choice: [word] }, max_tokens: 64 })
  expect(served).toMatchObject({ status: 200, text: expect.stringContaining(word) })
  // In order of arrival, more than thirty would have been rejected before it.
  expect(rejections).toBeLessThan(8)
  const rejected = { status: 400, text: expect.stringContaining('This grammar') as string }
  await Promise.any(flood.map(async (answer) => expect(await answer).toMatchObject(rejected)))
  // A grammar is not compiled when no request waits for it.
  leaving.abort()
  await Promise.allSettled(flood)
})
