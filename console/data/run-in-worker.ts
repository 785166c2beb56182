import { ApiError } from './client.ts'
import type { Tasks, WorkerAnswer } from './page-worker.ts'
// oxlint-disable-next-line import/default -- Vite makes it
import workerAddress from './page-worker.ts?worker&url'

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

/** Does in a worker what would stop the page. The bytes go to the worker. @throws {ApiError} with status 0 */
export async function runInWorker<Name extends keyof Tasks>(
  name: Name,
  given: Tasks[Name]['given'],
  signal: AbortSignal,
): Promise<Tasks[Name]['result']> {
  const address = policy ? policy.createScriptURL('') : workerAddress
  const worker = new Worker(address as string, { type: 'module' })
  try {
    const answer = await new Promise<WorkerAnswer>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<WorkerAnswer>) => resolve(data))
      worker.addEventListener('error', () => reject(new ApiError(0, 'The page could not start its worker.')))
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
      worker.postMessage({ name, given }, given)
    })
    if ('fault' in answer) throw new ApiError(0, answer.fault)
    return answer.result as Tasks[Name]['result']
  } finally {
    worker.terminate()
  }
}
