import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { enginePort } from '../../../crds/engine-address.ts'

/** node mock-engine.ts ADDRESS: answers chats at once, in vLLM's form, with the requested number of tokens. */
const [address] = process.argv.slice(2) as [string]

interface Chat {
  model: string
  max_tokens: number
  stream?: boolean
  /** The pause between two events in milliseconds. */
  seed?: number
  stream_options?: { include_usage?: boolean } | null
}

const id = 'chatcmpl-9bcb2fd51faf07d4'
const created = 1_795_343_063
const words = [' The', ' "red"', ' fox', ' slept', ',', '\n', ' at', ' home', '.', ' Ünder']
const promptTokens = 900

/** A token in vLLM's form: its text, its log-probability and the text's bytes. */
function describeToken(index: number) {
  const token = words[index % words.length]!
  const logprob = -Math.abs(Math.sin(index + 1)) * 3
  const bytes = [...Buffer.from(token)]
  return { token, logprob, bytes, top_logprobs: [] }
}

const listTokens = (count: number) => Array.from({ length: count }, (_, index) => describeToken(index))
const identify = (index: number) => 1_000 + ((index * 7_919) % 150_000)

function countUsage(tokens: number) {
  return { prompt_tokens: promptTokens, total_tokens: promptTokens + tokens, completion_tokens: tokens }
}

/** A complete reply with the same members, order and nulls as vLLM's. */
function buildReply(model: string, tokens: number): string {
  const content = listTokens(tokens)
  const text = content.map(({ token }) => token).join('')
  const message = { role: 'assistant', content: text, refusal: null, annotations: null, audio: null }
  const choice = {
    index: 0,
    message: { ...message, function_call: null, reasoning: null },
    logprobs: { content },
    finish_reason: 'length',
    stop_reason: null,
    token_ids: content.map((_, index) => identify(index)),
    routed_experts: null,
  }
  return JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [choice],
    service_tier: null,
    system_fingerprint: null,
    usage: { ...countUsage(tokens), prompt_tokens_details: null, completion_tokens_details: null },
    prompt_logprobs: null,
    prompt_token_ids: null,
    prompt_text: null,
    kv_transfer_params: null,
    ec_transfer_params: null,
    metrics: null,
  })
}

/** The events of a streamed reply: the role, each token, and the usage at the end. */
function buildEvents(model: string, tokens: number): string[] {
  const frame = (rest: object) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...rest })}\n\n`
  const role = { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }
  const sampled = listTokens(tokens).map((described, index) => {
    const isLast = index === tokens - 1
    const delta = { content: described.token }
    const logprobs = { content: [described] }
    const end = isLast ? { finish_reason: 'length', stop_reason: null } : { finish_reason: null }
    return frame({ choices: [{ index: 0, delta, logprobs, ...end, token_ids: [identify(index)] }] })
  })
  return [frame({ choices: [role] }), ...sampled, frame({ choices: [], usage: countUsage(tokens) })]
}

const done = 'data: [DONE]\n\n'
// As with our engines, no request waits for another one.
const common = { server: 'uvicorn', 'x-trainyard-max-requests': '4096' }

// A model's replies are always the same, so that only the cost of passing them on is measured.
const remember = <T>(build: (model: string, tokens: number) => T) => {
  const known = new Map<string, T>()
  return (model: string, tokens: number): T => {
    const key = `${tokens} ${model}`
    const found = known.get(key) ?? build(model, tokens)
    known.set(key, found)
    return found
  }
}
const findReply = remember((model, tokens) => Buffer.from(buildReply(model, tokens)))
const findEvents = remember((model, tokens) => buildEvents(model, tokens).map((event) => Buffer.from(event)))

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => answer(request, response, Buffer.concat(chunks)))
})
// The contestants keep their connections, and must never find one closed.
server.keepAliveTimeout = 600_000
server.listen(enginePort, address)

function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  if (request.method !== 'POST') {
    response.setHeader('content-type', 'application/json').end('{"object":"list","data":[]}')
    return
  }
  const chat = JSON.parse(body.toString()) as Chat
  if (chat.stream) return sendEvents(response, chat)
  const reply = findReply(chat.model, chat.max_tokens)
  response.writeHead(200, { ...common, 'content-length': reply.length, 'content-type': 'application/json' })
  response.end(reply)
}

function sendEvents(response: ServerResponse, { model, max_tokens, seed = 0, stream_options }: Chat): void {
  const all = findEvents(model, max_tokens)
  const events = stream_options?.include_usage ? all : all.slice(0, -1)
  response.writeHead(200, { ...common, 'content-type': 'text/event-stream; charset=utf-8' })
  let next = 0
  const send = () => {
    response.write(events[next++]!)
    if (next < events.length) return
    clearInterval(timer)
    response.end(done)
  }
  const timer = setInterval(send, seed)
  response.on('close', () => clearInterval(timer))
  send()
}
