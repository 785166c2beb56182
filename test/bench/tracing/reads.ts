import { setTimeout as delay } from 'node:timers/promises'
import type { BenchServer } from '../bench-server.ts'
import { median, percentile, round, type BenchResult } from '../result.ts'
import { fillProjects, filteredOp, type FilledProject } from './fill.ts'
import { createReader, type Reader, type ReadTimes } from './reader.ts'
import { measureStream } from './stream.ts'

const rounds = 5
const pageSize = 1_000
// The server's remaining work for a disconnected client must not delay the next request.
const pauseMs = 60

/** One kind of read. Slow ones are repeated less often in a round. */
interface Read {
  path?: string
  perRound: number
  /** Stops after the first row. */
  firstOnly?: boolean
  body: (project: FilledProject) => object
}

const pickOf = <T>(items: T[]): T => items[Math.floor(Math.random() * items.length)]!
const equals = (field: string, value: string) => ({ $expr: { $eq: [{ $getField: field }, { $literal: value }] } })

const reads: Record<string, Read> = {
  // Reads all calls of the project. Only the first is measured.
  first_row: { perRound: 40, firstOnly: true, body: () => ({}) },
  page: { perRound: 40, body: () => ({ limit: pageSize }) },
  page_newest: {
    perRound: 40,
    body: () => ({ limit: pageSize, sort_by: [{ field: 'started_at', direction: 'desc' }] }),
  },
  page_roots: { perRound: 20, body: () => ({ limit: pageSize, filter: { trace_roots_only: true } }) },
  // The Python SDK reads all calls this way: it increases the offset from the beginning.
  page_deep: {
    perRound: 8,
    body: ({ calls }) => ({ limit: pageSize, offset: pageSize * Math.floor((Math.random() * calls) / pageSize) }),
  },
  page_of_op: { perRound: 20, body: (project) => ({ limit: pageSize, filter: { op_names: [filteredOp(project)] } }) },
  page_of_op_any_version: {
    perRound: 20,
    body: (project) => ({ limit: pageSize, filter: { op_names: [filteredOp(project).replace(/:[^:]*$/, ':*')] } }),
  },
  trace: { perRound: 40, body: ({ sample }) => ({ filter: { trace_ids: [pickOf(sample).trace_id] } }) },
  // One of a thousand calls has this attribute.
  page_of_attribute: {
    perRound: 4,
    body: ({ sample }) => ({
      limit: 100,
      query: equals('attributes.customer', String(pickOf(sample).attributes['customer'])),
    }),
  },
  page_of_feedback: {
    perRound: 8,
    body: () => ({ limit: 100, query: equals('feedback.[quality].payload.label', 'good') }),
  },
  call: { path: '/call/read', perRound: 40, body: ({ sample }) => ({ id: pickOf(sample).id }) },
  count: { path: '/calls/query_stats', perRound: 8, body: () => ({}) },
}

const flat = new Set(['first_row', 'page'])

/** Measures reads in a small and in a large project, in alternation. */
export async function measureReads(server: BenchServer, sizes: { small: number; large: number }): Promise<BenchResult> {
  const names = Object.fromEntries(Object.values(sizes).map((calls) => [nameOf(calls), calls]))
  const projects = await fillProjects(server, names)
  const reader = createReader(server)
  const result: BenchResult = { ratios: {}, figures: {} }
  for (const [name, read] of Object.entries(reads)) await measureRead(reader, projects, { name, read, result })
  Object.assign(result.figures, await measureStream(server, reader, projects.at(-1)!))
  reader.close()
  return result
}

const nameOf = (calls: number) => (calls < 1e6 ? `${calls / 1e3}k` : `${calls / 1e6}m`)

async function measureRead(
  reader: Reader,
  projects: FilledProject[],
  { name, read, result: { ratios, figures } }: { name: string; read: Read; result: BenchResult },
): Promise<void> {
  const p95s = projects.map(() => [] as number[])
  await timeRound(reader, projects, read)
  for (let index = 0; index < rounds; index++) {
    const timesMs = await timeRound(reader, projects, read)
    for (const [place, times] of timesMs.entries()) p95s[place]!.push(percentile(times, 0.95))
  }
  for (const [place, { calls }] of projects.entries()) {
    figures[`${name}_p95_${nameOf(calls)}_ms`] = round(median(p95s[place]!))
    figures[`${name}_p95_${nameOf(calls)}_spread_ms`] = round(Math.max(...p95s[place]!) - Math.min(...p95s[place]!))
  }
  const [small, large] = p95s.map(median) as [number, number]
  const ratio = round(large / small)
  const [one, other] = projects.map(({ calls }) => nameOf(calls))
  if (flat.has(name)) ratios[`${name}_p95_${other}_to_${one}`] = ratio
  process.stderr.write(`${name}: p95 ${round(small)} and ${round(large)} ms, ${ratio} times\n`)
}

/** Sends requests to both projects in alternation, so that other load of the machine affects both. */
async function timeRound(reader: Reader, projects: FilledProject[], read: Read): Promise<number[][]> {
  const timesMs = projects.map(() => [] as number[])
  for (let index = 0; index < read.perRound; index++) {
    for (const [place, project] of projects.entries()) timesMs[place]!.push(await timeRead(reader, project, read))
  }
  return timesMs
}

async function timeRead(reader: Reader, project: FilledProject, { path, firstOnly, body }: Read): Promise<number> {
  const request = { project_id: project.projectId, ...body(project) }
  const { firstMs, totalMs, bytes }: ReadTimes = await reader.read(path ?? '/calls/stream_query', request, firstOnly)
  if (bytes === 0) throw new Error(`${path ?? '/calls/stream_query'} answered nothing to ${JSON.stringify(request)}`)
  if (!firstOnly) return totalMs
  await delay(pauseMs)
  return firstMs
}
