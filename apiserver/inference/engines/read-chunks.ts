import type { EngineResponse } from './engine-response.ts'

// Some 64 KiB each. To pause at each of them costs more than to read it.
const maxChunks = 4

/**
 * The chunks of a response, taken as fast as they are asked for. Whoever stops asking before the end closes the connection.
 *
 * @throws {Error} when the engine breaks off
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
