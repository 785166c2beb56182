import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import path from 'node:path'
import { json, text } from 'node:stream/consumers'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { addKey } from '../support/api-server.ts'
import { ensureClientPython } from '../support/client-python.ts'
import { useFakeEngine } from '../support/own-gateway.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const model = 'fake'
const own = useFakeEngine(stack, { model, answer: answerError })

// In the words of vLLM.
const tooLong =
  "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens. " +
  'Please reduce the length of the input prompt. (parameter=input_tokens, value=4097)'

/** An engine that answers with the error that the chat asks for. */
async function answerError(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { messages } = (await json(request)) as { messages: { content: string }[] }
  response.statusCode = messages[0]?.content === 'long' ? 400 : 500
  const error = { message: tooLong, type: 'BadRequestError', param: 'input_tokens', code: response.statusCode }
  response.end(JSON.stringify({ error }))
}

interface FailingRequest {
  key: string
  path: string
  body: object
}

interface Raised {
  raised: string | null
  status?: number
  code?: string | null
}

const chatOf = (content: unknown, more: object = {}) => ({ model, messages: [{ role: 'user', content }], ...more })

/** Requests that fail, with the exceptions that SDKs must raise. */
async function listFailing(): Promise<[FailingRequest, Raised][]> {
  const { pool } = own.database
  const [member, reader] = [await addKey(pool, randomUUID()), await addKey(pool, randomUUID(), 'read')]
  const limited = await addLimited()
  const chat = (body: object, key = member) => ({ key, path: '/chat/completions', body })
  const raised = (name: string, status: number, code: string | null): Raised => ({ raised: name, status, code })
  const context = raised('BadRequestError', 400, 'context_length_exceeded')
  return [
    [chat(chatOf('long')), context],
    [chat(chatOf('long', { stream: true })), context],
    [chat(chatOf('x'), 'ty_unknown'), raised('AuthenticationError', 401, 'invalid_api_key')],
    [chat(chatOf('x', { model: 'no/such' })), raised('NotFoundError', 404, 'model_not_found')],
    [chat(chatOf('x', { n: 0 })), raised('UnprocessableEntityError', 422, 'invalid_request')],
    [chat(chatOf('x'), limited), raised('RateLimitError', 429, 'rate_limit_exceeded')],
    [chat(chatOf('crash')), raised('InternalServerError', 502, 'engine_failed')],
    // The training interface has no code in the member that SDKs read.
    [{ key: reader, path: '/preview/models', body: {} }, raised('PermissionDeniedError', 403, null)],
  ]
}

/** A key of an entity that has used up its requests of this minute. */
async function addLimited(): Promise<string> {
  const entity = randomUUID()
  const key = await addKey(own.database.pool, entity)
  await own.database.pool.query('INSERT INTO auth.entities (entity, requests_per_minute) VALUES ($1, 1)', [entity])
  const { status } = await fetch(`${own.server.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  expect(status).toBe(200)
  return key
}

/** Sends a request with the npm SDK. */
async function raiseInNode({ key, path: target, body }: FailingRequest): Promise<Raised> {
  const client = new OpenAI({ baseURL: `${own.server.url}/v1`, apiKey: key, maxRetries: 0 })
  const cause: unknown = await client.post(target, { body }).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(cause instanceof OpenAI.APIError)) return { raised: null }
  return { raised: cause.constructor.name, status: Number(cause.status), code: cause.code ?? null }
}

test("OpenAI's npm SDK raises the class of each error, with its code", async () => {
  for (const [request, expected] of await listFailing()) expect(await raiseInNode(request)).toEqual(expected)
})

test("OpenAI's Python SDK raises the class of each error, with its code", async () => {
  const python = await ensureClientPython('openai-python')
  const script = path.join(import.meta.dirname, '..', 'clients', 'openai-python', 'raise_errors.py')
  const failing = await listFailing()
  const child = spawn(python, [script], {
    env: { ...process.env, TRAINYARD_URL: own.server.url },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(failing.map(([request]) => request)))
  const raised = JSON.parse(await text(child.stdout)) as Raised[]
  expect(raised).toEqual(failing.map(([, expected]) => expected))
})
