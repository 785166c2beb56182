import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchServer } from '../bench-server.ts'
import { medians, takeTurns, type Figures } from '../harness.ts'
import { percentile } from '../statistics.ts'
import { makeCalls, nameOp, type BenchCall } from './calls.ts'
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

/** A project that has been in use for some time, and some of its calls. */
interface FilledProject {
  projectId: string
  sample: BenchCall[]
}

/** One kind of read. */
interface Read {
  path?: string
  /** Stops after the first row. */
  firstOnly?: boolean
  body: (project: FilledProject) => object
}

const pickOf = <T>(items: T[]): T => items[Math.floor(Math.random() * items.length)]!

const reads: Record<string, Read> = {
  // Reads all calls of the project. Only the first is measured.
  first_row: { firstOnly: true, body: () => ({}) },
  page: { body: () => ({ limit: pageSize }) },
  page_newest: { body: () => ({ limit: pageSize, sort_by: [{ field: 'started_at', direction: 'desc' }] }) },
  page_roots: { body: () => ({ limit: pageSize, filter: { trace_roots_only: true } }) },
  page_of_op: { body: ({ projectId }) => ({ limit: pageSize, filter: { op_names: [nameOp(projectId, 4, 1)] } }) },
  trace: { body: ({ sample }) => ({ filter: { trace_ids: [pickOf(sample).trace_id] } }) },
  call: { path: '/call/read', body: ({ sample }) => ({ id: pickOf(sample).id }) },
  count: { path: '/calls/query_stats', body: () => ({}) },
}

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
  const projects = await fillProjects(server, { small, large })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const figures: Figures = {}
  for (const [name, read] of Object.entries(reads)) {
    const timeRound = (project: FilledProject) => async () => {
      const timesMs: number[] = []
      while (timesMs.length < requests) timesMs.push(await timeRead(server, agent, { project, read }))
      return { p95_ms: percentile(timesMs, 0.95) }
    }
    const measured = await takeTurns(rounds, { small: timeRound(projects.small), large: timeRound(projects.large) })
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
export async function fillProjects<Name extends string>(
  server: BenchServer,
  sizes: Record<Name, number>,
): Promise<Record<Name, FilledProject>> {
  const startMs = Date.now() - historyMs
  // Creates the partitions that would exist if the server had run at that time.
  await server.pool.query('SELECT tracing.add_week(tracing.this_week() - n) FROM generate_series(2, 5) AS n')
  const names = Object.keys(sizes) as Name[]
  const projects = names.map((name) => ({
    projectId: `${server.entity}/${name}`,
    calls: sizes[name],
    sample: [] as BenchCall[],
  }))
  const turns = Math.ceil(Math.max(...projects.map(({ calls }) => calls)) / callsPerTurn)
  let sending: Promise<unknown> = Promise.resolve()
  for (let turn = 0; turn < turns; turn++) {
    const requests = projects.flatMap(({ projectId, calls, sample }) => {
      const count = Math.ceil(calls / turns)
      const stepMs = Math.floor(historyMs / calls)
      const batch = makeCalls(projectId, count, { startMs: startMs + turn * count * stepMs, stepMs })
      sample.push(...batch.slice(0, 10))
      return writeComplete(server, projectId, batch)
    })
    await sending
    sending = sendAll(server.url, requests, { connections })
  }
  await sending
  await server.pool.query('VACUUM ANALYZE')
  return Object.fromEntries(names.map((name, index) => [name, projects[index]!])) as unknown as Record<
    Name,
    FilledProject
  >
}

/** Milliseconds until the first line, or until the end, of an answer that is not parsed. */
async function timeRead(
  { url, apiKey }: BenchServer,
  agent: Agent,
  { project, read: { path = '/calls/stream_query', firstOnly = false, body } }: { project: FilledProject; read: Read },
): Promise<number> {
  const headers = { ...basic(apiKey), 'content-type': 'application/json' }
  const asked = JSON.stringify({ project_id: project.projectId, ...body(project) })
  const startMs = performance.now()
  const [answer] = (await once(request(url + path, { method: 'POST', agent, headers }).end(asked), 'response')) as [
    IncomingMessage,
  ]
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Leaving the loop closes the connection, as a client does that has read enough.
    if (firstOnly && chunk.includes(10)) break
  }
  const timeMs = performance.now() - startMs
  if (answer.statusCode !== 200 || bytes === 0) throw new Error(`${path} answered ${answer.statusCode} to ${asked}`)
  if (firstOnly) await delay(pauseMs)
  return timeMs
}
