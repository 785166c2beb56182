import { readFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchServer } from './bench-server.ts'
import { percentile, round } from './result.ts'

const ticksPerSecond = 100
// Postgres backends report their statistics within this time.
const statisticsDelayMs = 25_000
const idleMs = 20_000
const inserts = 100

type Kind = 'stream' | 'poll'

/**
 * Many clients wait for events in one process, distributed over the jobs. Measures the cost while nothing happens, and
 * the time from an event's insert to the waiting clients.
 */
export async function measureWaiters(
  server: BenchServer,
  jobIds: string[],
  { kind, count }: { kind: Kind; count: number },
): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: false })
  const arrivals = new Map<string, ((atMs: number) => void)[]>()
  const waiting = Array.from({ length: count }, (_, index) => {
    const jobId = jobIds[index % jobIds.length]!
    return open(server, agent, { kind, jobId, onEvent: (atMs) => arrivals.get(jobId)?.shift()?.(atMs) })
  })
  const responses = kind === 'stream' ? await Promise.all(waiting.map(({ answered }) => answered)) : []
  await delay(statisticsDelayMs)
  const [beforeTicks, beforeQueries, beforeMs] = [await readTicks(server), await readQueries(server), performance.now()]
  await delay(idleMs)
  const seconds = (performance.now() - beforeMs) / 1000
  const cpuPercent = ((await readTicks(server)) - beforeTicks) / ticksPerSecond / seconds
  // Without the query of this measurement.
  const queries = (await readQueries(server)) - beforeQueries - 1
  const delaysMs: number[] = []
  const toTell = kind === 'stream' ? inserts : jobIds.length
  for (let index = 0; index < toTell; index++) {
    const jobId = jobIds[index % jobIds.length]!
    delaysMs.push(
      ...(await tell(server, { jobId, seq: Math.floor(index / jobIds.length), arrivals, each: count / jobIds.length })),
    )
  }
  for (const response of responses) response.destroy()
  agent.destroy()
  return {
    [`${kind}s`]: count,
    [`${kind}s_idle_cpu_percent`]: round(cpuPercent * 100),
    [`${kind}s_idle_queries_per_second`]: round(queries / seconds),
    [`${kind}s_insert_to_arrival_p50_ms`]: round(percentile(delaysMs, 0.5)),
    [`${kind}s_insert_to_arrival_p99_ms`]: round(percentile(delaysMs, 0.99)),
  }
}

/** Inserts an event and waits until all waiting clients have received it. */
async function tell(
  { pool }: BenchServer,
  event: { jobId: string; seq: number; arrivals: Map<string, ((atMs: number) => void)[]>; each: number },
): Promise<number[]> {
  const { jobId, seq, arrivals, each } = event
  const arrived = Array.from({ length: each }, () => Promise.withResolvers<number>())
  arrivals.set(
    jobId,
    arrived.map(({ resolve }) => resolve),
  )
  const startMs = performance.now()
  await pool.query(
    `INSERT INTO training.events (job_id, seq, type, data) VALUES ($1, $2, 'gradient_step', '{"loss": 1}')`,
    [jobId, seq],
  )
  const times = await Promise.all(arrived.map(({ promise }) => promise))
  await delay(20)
  return times.map((atMs) => atMs - startMs)
}

function open(
  server: BenchServer,
  agent: Agent,
  { kind, jobId, onEvent }: { kind: Kind; jobId: string; onEvent: (atMs: number) => void },
) {
  const { url, apiKey } = server
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const accept = kind === 'stream' ? 'text/event-stream' : 'application/json'
  const query = kind === 'stream' ? '' : '?wait=60'
  const headers = { authorization: `Bearer ${apiKey}`, accept }
  const request = get(`${url}/v1/preview/training-jobs/${jobId}/events${query}`, { agent, headers }, (response) => {
    let told = false
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      if (!text.includes('gradient_step')) return
      told = true
      onEvent(performance.now())
    })
    // The request has reached its time limit. It is repeated, as clients do.
    response.on('end', () => void (!told && open(server, agent, { kind, jobId, onEvent })))
    response.on('error', () => {})
    resolve(response)
  })
  request.on('error', reject)
  promise.catch(() => {})
  return { answered: promise }
}

async function readTicks({ pid }: BenchServer): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

async function readQueries({ pool }: BenchServer): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  )
  return rows[0]!.count
}
