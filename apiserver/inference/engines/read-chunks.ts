import type { EngineResponse } from './engine-response.ts'

// About 64 KiB each. Pausing at each chunk costs more than reading it.
const maxChunks = 4

/**
 * Yields the chunks of a response as fast as the caller reads them. If the caller stops before the end, the connection
 * is closed.
 *
 * @throws {Error} if the engine disconnects
 */
export async function* readChunks(response: EngineResponse): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = []
  let outcome: { error: Error | undefined } | undefined
  let wake = () => {}
  const end = (error?: Error) => {
    outcome = { error }
    wake()
  }
  const onData = (chunk: Buffer) => {
    if (chunks.push(chunk) > maxChunks) response.pause()
    wake()
  }
  response.receive({ onData, onEnd: end, onError: end })
  try {
    for (;;) {
      while (chunks.length > 0) yield chunks.shift()!
      if (outcome?.error) throw outcome.error
      if (outcome) return
      const woken = new Promise<void>((resolve) => (wake = resolve))
      response.resume()
      await woken
    }
  } finally {
    response.abort()
  }
}
