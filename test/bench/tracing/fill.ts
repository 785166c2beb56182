import type { BenchServer } from '../bench-server.ts'
import { createCalls, opRef, type BenchCall, type CallSource } from './calls.ts'
import { sendAll, writeRequest } from './client.ts'
import { basic } from './writers.ts'

const callsPerRequest = 1_000
const callsPerTurn = 10_000
const connections = 3
const seed = 7
// The measured calls are in the middle of a history of four weeks.
const historyMs = 28 * 24 * 3_600_000
const feedbackRows = 1_000
const sampled = 500

/** A project that has been in use for some time. */
export interface FilledProject {
  projectId: string
  calls: number
  /** Some of its calls. */
  sample: BenchCall[]
}

/**
 * Fills projects through the API in alternation and in the order of time, so that their calls are interleaved in the
 * tables. Each project gets the same number of feedback rows.
 */
export async function fillProjects(server: BenchServer, sizes: Record<string, number>): Promise<FilledProject[]> {
  const startMs = Date.now() - historyMs
  // Creates the partitions that would exist if the server had run at that time.
  await server.pool.query('SELECT tracing.add_week(tracing.this_week() - n) FROM generate_series(2, 5) AS n')
  const projects = Object.entries(sizes).map(([name, calls], index) => {
    const projectId = `${server.entity}/${name}`
    const source = createCalls(projectId, seed + index, { startMs, stepMs: Math.floor(historyMs / calls) })
    return { projectId, calls, source, sample: [] as BenchCall[] }
  })
  const turns = Math.ceil(Math.max(...Object.values(sizes)) / callsPerTurn)
  let sending: Promise<unknown> = Promise.resolve()
  for (let turn = 0; turn < turns; turn++) {
    const requests = projects.flatMap((project) => writeTurn(server, project, turns))
    await sending
    sending = sendAll(server.url, requests, connections)
    if ((turn + 1) % 20 === 0) process.stderr.write(`filling: ${turn + 1} of ${turns}\n`)
  }
  await sending
  for (const { projectId, sample } of projects) await addFeedback(server, projectId, sample)
  await server.pool.query('VACUUM ANALYZE')
  return projects.map(({ projectId, calls, sample }) => ({ projectId, calls, sample }))
}

interface Filling extends FilledProject {
  source: CallSource
}

function writeTurn(server: BenchServer, { projectId, calls, source, sample }: Filling, turns: number): Buffer[] {
  const headers = { ...basic(server.apiKey), 'content-type': 'application/json' }
  const target = { url: server.url, path: `/v2/${projectId}/calls/complete`, headers }
  const batch = source.take(Math.ceil(calls / turns))
  const every = Math.max(1, Math.floor(calls / Math.max(sampled, feedbackRows)))
  sample.push(...batch.filter((_, index) => index % every === 0))
  const parts = Array.from({ length: Math.ceil(batch.length / callsPerRequest) }, (_, index) =>
    batch.slice(index * callsPerRequest, (index + 1) * callsPerRequest),
  )
  return parts.map((part) => writeRequest(target, JSON.stringify({ batch: part })))
}

/** Every second feedback is good. */
async function addFeedback(server: BenchServer, projectId: string, sample: BenchCall[]): Promise<void> {
  const target = {
    url: server.url,
    path: '/feedback/batch/create',
    headers: { ...basic(server.apiKey), 'content-type': 'application/json' },
  }
  const batch = sample.slice(0, feedbackRows).map(({ id }, index) => ({
    project_id: projectId,
    weave_ref: `weave:///${projectId}/call/${id}`,
    feedback_type: 'quality',
    payload: { label: index % 2 ? 'good' : 'bad', score: (index % 10) / 10 },
  }))
  await sendAll(server.url, [writeRequest(target, JSON.stringify({ batch }))], 1)
}

/** One of the 25 ops that calls have. */
export const filteredOp = ({ projectId }: FilledProject) => opRef(projectId, 'judge', 1)
