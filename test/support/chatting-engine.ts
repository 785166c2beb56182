import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

interface ChatRequest {
  model?: string
  stream?: boolean
  /** How many words it answers. */
  max_completion_tokens?: number
}

/** The time between two words of the engine. */
const wordMs = 50
const common = { id: 'chat', created: 0 }

/** A fake engine that answers chats word by word, as long as the client asks, and knows each adapter that it was asked for. */
export function createChattingEngine(): RequestListener {
  const adapters = new Set<string>()
  return (request, response) => void answer(adapters, request, response)
}

async function answer(adapters: Set<string>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') {
    const data = ['base', ...adapters].map((id) => ({ id }))
    return sendJson(response, { object: 'list', data })
  }
  const asked = (await json(request)) as ChatRequest
  const { model } = asked
  if (model === undefined) return sendJson(response, {})
  adapters.add(model)
  await (asked.stream ? streamWords(asked, response) : sendWords(asked, response))
}

async function sendWords({ model, max_completion_tokens: count = 1 }: ChatRequest, response: ServerResponse) {
  await delay(count * wordMs)
  const message = { role: 'assistant', content: 'word '.repeat(count) }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  sendJson(response, { ...common, object: 'chat.completion', model, choices })
}

async function streamWords({ model, max_completion_tokens: count = 1 }: ChatRequest, response: ServerResponse) {
  response.setHeader('content-type', 'text/event-stream')
  for (let word = 1; word <= count; word++) {
    const choices = [{ index: 0, delta: { content: 'word ' }, finish_reason: word === count ? 'stop' : null }]
    response.write(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', model, choices })}\n\n`)
    await delay(wordMs)
  }
  response.end('data: [DONE]\n\n')
}

function sendJson(response: ServerResponse, value: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}
