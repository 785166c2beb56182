import { engineOrigin } from '../crds/engine-address.ts'
import { fetchWithKeys } from '../lib/http/fetch-with-keys.ts'
import { isObject } from '../lib/json/is-object.ts'
import type { Pod } from '../lib/kube/objects.ts'

/** An engine's pod and the keys that it may require, the current one first. */
export interface Engine {
  pod: Pod
  keys: readonly string[]
}

// Listing and unloading change only a table of the engine.
const requestMs = 5_000
const checkpointId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
// vLLM's answers for an adapter that is damaged, missing, or does not fit its settings.
const rejectedStatuses: ReadonlySet<number> = new Set([400, 404, 500])

/** An engine's answer that says that it cannot load an adapter. */
export class AdapterRejected extends Error {
  override readonly name = 'AdapterRejected'
}

/** Lists the checkpoints that an engine has loaded. */
export async function listAdapters(engine: Engine): Promise<string[]> {
  const response = await requestEngine(engine, '/v1/models', { signal: AbortSignal.timeout(requestMs) })
  if (!response.ok) throw await readEngineError(response)
  const answer: unknown = await response.json()
  const models: unknown[] = isObject(answer) && Array.isArray(answer['data']) ? answer['data'] : []
  const ids = models.map((model) => (isObject(model) ? model['id'] : undefined)).filter((id) => typeof id === 'string')
  return ids.filter((id) => checkpointId.test(id))
}

/** Makes an engine load an adapter, with a completion of one token. @throws {AdapterRejected} if it cannot */
export async function loadAdapter(engine: Engine, id: string, signal: AbortSignal): Promise<void> {
  const body = { model: id, prompt: 'a', max_tokens: 1 }
  const response = await requestEngine(engine, '/v1/completions', { body, signal })
  if (!response.ok) {
    const error = await readEngineError(response)
    throw rejectedStatuses.has(response.status) ? new AdapterRejected(error.message) : error
  }
  await response.text()
}

/** Makes an engine unload an adapter. Requests that use it end as usual. */
export async function unloadAdapter(engine: Engine, id: string): Promise<void> {
  const request = { body: { lora_name: id }, signal: AbortSignal.timeout(requestMs) }
  const response = await requestEngine(engine, '/v1/unload_lora_adapter', request)
  // Another operator, or the engine itself, may have unloaded it first.
  if (!response.ok && response.status !== 404) throw await readEngineError(response)
  await response.text()
}

/** Tells an engine which adapters it keeps when it needs memory for others, the most important first. */
export async function keepAdapters(engine: Engine, ids: readonly string[]): Promise<void> {
  const request = { method: 'PUT', body: { names: ids }, signal: AbortSignal.timeout(requestMs) }
  const response = await requestEngine(engine, '/v1/kept_lora_adapters', request)
  if (!response.ok) throw await readEngineError(response)
  await response.text()
}

interface EngineRequest {
  method?: string
  body?: object
  signal: AbortSignal
}

/** Sends a request to an engine: a POST if there is a body, else a GET. */
function requestEngine(
  { pod, keys }: Engine,
  path: string,
  { body, method = body ? 'POST' : 'GET', signal }: EngineRequest,
): Promise<Response> {
  return fetchWithKeys(engineOrigin(pod.status?.podIP ?? '') + path, keys, {
    method,
    headers: body ? { 'content-type': 'application/json' } : {},
    ...(body && { body: JSON.stringify(body) }),
    signal,
  })
}

/** The message of an engine's error, truncated for a log line. */
async function readEngineError(response: Response): Promise<Error> {
  const body = await response.text()
  return new Error(`the engine answered ${response.status}: ${body.slice(0, 300)}`)
}
