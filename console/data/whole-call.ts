import { readPreview, type WholeCall } from '../logic/preview.ts'
import { ApiError, sendTo } from './client.ts'
import type { WorkerAnswer } from './whole-call-worker.ts'
// oxlint-disable-next-line import/default -- Vite makes it
import workerAddress from './whole-call-worker.ts?worker&url'

interface TrustedTypes {
  createPolicy: (
    name: string,
    rules: { createScriptURL: (text: string) => string },
  ) => { createScriptURL: (text: string) => unknown }
}

// Where Trusted Types are required, the address of a worker needs a policy. This one knows a single address.
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('trainyard-worker', {
  createScriptURL: () => workerAddress,
})

// A page parses so much in a few milliseconds.
const maxBytesHere = 256 * 1024

/**
 * Reads a call. A worker parses and cuts a large one: 20 MB of JSON would stop the page for a second.
 *
 * @throws {ApiError}
 */
export async function readWhole(body: { project_id: string; id: string }, signal: AbortSignal): Promise<WholeCall> {
  const response = await sendTo('POST', '/traces/call/read', { ...body, include_costs: true }, signal)
  const bytes = await response.arrayBuffer()
  const isSmall = bytes.byteLength <= maxBytesHere
  const whole = isSmall ? readPreview(new TextDecoder().decode(bytes)) : await readInWorker(bytes, signal)
  if (!whole) throw new ApiError(404, 'There is no such call.')
  return whole
}

async function readInWorker(bytes: ArrayBuffer, signal: AbortSignal): Promise<WholeCall | null> {
  const address = policy ? policy.createScriptURL('') : workerAddress
  const worker = new Worker(address as string, { type: 'module' })
  try {
    const answer = await new Promise<WorkerAnswer>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<WorkerAnswer>) => resolve(data))
      worker.addEventListener('error', () => reject(new ApiError(0, 'The page could not start its worker.')))
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
      worker.postMessage(bytes, [bytes])
    })
    if ('whole' in answer) return answer.whole
    throw new ApiError(0, answer.fault)
  } finally {
    worker.terminate()
  }
}
