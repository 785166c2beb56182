import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchServer } from '../bench-server.ts'
import { medians, takeTurns, type Figures } from '../harness.ts'
import { percentile } from '../statistics.ts'
import { makeCalls } from './calls.ts'
import { sendAll } from '../connection.ts'
import { basic } from '../../support/post.ts'
import { writeComplete } from './writes.ts'

const pageSize = 1_000
const callsPerTurn = 10_000
const connections = 3
// The measured calls are in the middle of a history of four weeks.
const historyMs = 28 * 24 * 3_600_000
// The server's remaining work for a disconnected client must not delay the next request.
const pauseMs = 60

/** The reads: a page, and all calls of a project, of which only the first is waited for. */
const reads: Record<string, object> = { first_row: {}, page: { limit: pageSize } }

export interface ReadCounts {
  rounds: number
  small: number
  large: number
  requests: number
}

/** Reads in a small and in a large project, alternately: the p95 of a round's requests. */
export async function measureReads(
  server: BenchServer,
  { rounds, small, large, requests }: ReadCounts,
): Promise<Figures> {
  await fillProjects(server, { small, large })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const figures: Figures = {}
  for (const [name, read] of Object.entries(reads)) {
    const timeRound = (project: string) => async () => {
      const body = JSON.stringify({ project_id: `${server.entity}/${project}`, ...read })
      const timesMs: number[] = []
      while (timesMs.length < requests) timesMs.push(await timeRead(server, agent, body, name === 'first_row'))
      return { p95_ms: percentile(timesMs, 0.95) }
    }
    const measured = await takeTurns(rounds, { small: timeRound('small'), large: timeRound('large') })
    const [few, many] = [medians(measured.small)['p95_ms']!, medians(measured.large)['p95_ms']!]
    Object.assign(figures, {
      [`${name}_p95_small_ms`]: few,
      [`${name}_p95_ms`]: many,
      [`${name}_large_vs_small`]: many / few,
    })
  }
  agent.destroy()
  return figures
}

/**
 * Fills projects through the API in alternation and in the order of time, so that their calls are interleaved in the tables.
 */
export async function fillProjects(server: BenchServer, sizes: Record<string, number>): Promise<void> {
  const startMs = Date.now() - historyMs
  // Creates the partitions that would exist if the server had run at that time.
  await server.pool.query('SELECT tracing.add_week(tracing.this_week() - n) FROM generate_series(2, 5) AS n')
  const turns = Math.ceil(Math.max(...Object.values(sizes)) / callsPerTurn)
  let sending: Promise<unknown> = Promise.resolve()
  for (let turn = 0; turn < turns; turn++) {
    const requests = Object.entries(sizes).flatMap(([name, calls]) => {
      const projectId = `${server.entity}/${name}`
      const count = Math.ceil(calls / turns)
      const stepMs = Math.floor(historyMs / calls)
      const batch = makeCalls(projectId, count, { startMs: startMs + turn * count * stepMs, stepMs })
      return writeComplete(server, projectId, batch)
    })
    await sending
    sending = sendAll(server.url, requests, { connections })
  }
  await sending
  await server.pool.query('VACUUM ANALYZE')
}

/** Milliseconds until the first line, or until the end, of an answer that is not parsed. */
async function timeRead({ url, apiKey }: BenchServer, agent: Agent, body: string, firstOnly: boolean): Promise<number> {
  const headers = { ...basic(apiKey), 'content-type': 'application/json' }
  const asked = request(`${url}/calls/stream_query`, { method: 'POST', agent, headers })
  const startMs = performance.now()
  const [answer] = (await once(asked.end(body), 'response')) as [IncomingMessage]
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Leaving the loop closes the connection, as a client does that has read enough.
    if (firstOnly && chunk.includes(10)) break
  }
  const timeMs = performance.now() - startMs
  if (answer.statusCode !== 200 || bytes === 0) throw new Error(`${body} was answered by ${answer.statusCode}`)
  if (firstOnly) await delay(pauseMs)
  return timeMs
}
