import { engineOrigin } from '../crds/engine-address.ts'
import type { Pod } from '../lib/kube/objects.ts'

/** An engine's pod and the key that it requires. */
export interface Engine {
  pod: Pod
  key: string
}

/** Sends a request to an engine: a POST if there is a body, else a GET. */
export function requestEngine(
  { pod, key }: Engine,
  path: string,
  { body, signal }: { body?: object; signal: AbortSignal },
): Promise<Response> {
  return fetch(engineOrigin(pod.status?.podIP ?? '') + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal,
  })
}

/** The message of an engine's error, truncated for a log line. */
export async function readEngineError(response: Response): Promise<Error> {
  const body = await response.text()
  return new Error(`the engine answered ${response.status}: ${body.slice(0, 300)}`)
}
