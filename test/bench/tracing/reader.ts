import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import type { BenchServer } from '../bench-server.ts'
import { basic } from './writers.ts'

/** The number of lines, and when they were read. */
export interface ReadTimes {
  /** The time until the first line was complete. */
  firstMs: number
  totalMs: number
  bytes: number
  lines: number
}

export interface Reader {
  read: (path: string, body: object, firstOnly?: boolean) => Promise<ReadTimes>
  close: () => void
}

const newline = 10

/** Reads responses over one persistent connection, and counts their lines without parsing them. */
export function createReader({ url, apiKey }: BenchServer): Reader {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { ...basic(apiKey), 'content-type': 'application/json' }
  return {
    read: async (path, body, firstOnly = false) => {
      const startMs = performance.now()
      const asked = request(url + path, { method: 'POST', agent, headers }).end(JSON.stringify(body))
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      const times = await countLines(answer, startMs, firstOnly)
      if (answer.statusCode !== 200) throw new Error(`${path} was answered by ${answer.statusCode}`)
      return times
    },
    close: () => agent.destroy(),
  }
}

async function countLines(answer: IncomingMessage, startMs: number, firstOnly: boolean): Promise<ReadTimes> {
  let [firstMs, bytes, lines] = [0, 0, 0]
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines++
    if (lines > 0) firstMs ||= performance.now() - startMs
    // Leaving the loop closes the connection, as a client does that has read enough.
    if (firstOnly && lines > 0) break
  }
  return { firstMs, totalMs: performance.now() - startMs, bytes, lines }
}
