import type { EngineResponse } from './engine-response.ts'

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
    chunks.push(chunk)
    response.pause()
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
