import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buildEvents, buildReply } from './replies.ts'
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
