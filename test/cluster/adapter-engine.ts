import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

/** What a fake engine has loaded, and what it was asked to load and unload. */
export interface AdapterEngine {
  loaded: Set<string>
  loads: string[]
  unloads: string[]
  /** What it was last told to keep. */
  kept: string[]
  answer: RequestListener
}

/** A fake engine that keeps the names of adapters as vLLM does: it loads an adapter with the first request for it. */
export function createAdapterEngine(): AdapterEngine {
  const engine: AdapterEngine = { loaded: new Set(), loads: [], unloads: [], kept: [], answer: () => {} }
  engine.answer = (request, response) => void answer(engine, request, response)
  return engine
}

interface AdapterRequest {
  model?: string
  lora_name?: string
  names?: string[]
}

async function answer(engine: AdapterEngine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('content-type', 'application/json')
  if (request.method === 'GET') {
    response.end(JSON.stringify({ data: ['base', ...engine.loaded].map((id) => ({ id })) }))
    return
  }
  const { model, lora_name: unloaded, names } = (await json(request)) as AdapterRequest
  if (names !== undefined) engine.kept = names
  if (model !== undefined) {
    engine.loads.push(model)
    engine.loaded.add(model)
  }
  if (unloaded !== undefined) {
    engine.unloads.push(unloaded)
    engine.loaded.delete(unloaded)
  }
  response.end('{}')
}
