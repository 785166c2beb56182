import { engineOrigin } from '../crds/engine-address.ts'
import { fetchWithKeys } from '../lib/http/fetch-with-keys.ts'
import type { Pod } from '../lib/kube/objects.ts'

/** An engine's pod and the keys that it may require, the current one first. */
export interface Engine {
  pod: Pod
  keys: readonly string[]
}

/** Sends a request to an engine: a POST if there is a body, else a GET. */
export function requestEngine(
  { pod, keys }: Engine,
  path: string,
  { body, signal }: { body?: object; signal: AbortSignal },
): Promise<Response> {
  return fetchWithKeys(engineOrigin(pod.status?.podIP ?? '') + path, keys, {
    method: body ? 'POST' : 'GET',
    headers: body ? { 'content-type': 'application/json' } : {},
    ...(body && { body: JSON.stringify(body) }),
    signal,
  })
}

/** The message of an engine's error, truncated for a log line. */
export async function readEngineError(response: Response): Promise<Error> {
  const body = await response.text()
  return new Error(`the engine answered ${response.status}: ${body.slice(0, 300)}`)
}
