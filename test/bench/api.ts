import { bringUpStack } from '../support/global-setup.ts'
import { createRest } from '../support/rest.ts'
import { addBaseModel, addWaitingJobs, baseModel, fillDatabase, type ApiData } from './api-data.ts'
import { withBenchServer, type BenchServer } from './bench-server.ts'
import { median, percentile, round, type BenchResult } from './result.ts'
import { measureWaiters } from './waiters.ts'

const rounds = 9
const requestsPerRound = 200
const warmRequests = 100
const creations = 300
const waiters = 1_000
const waitedForJobs = 100

interface Side {
  server: BenchServer
  data: ApiData
}

const keys = ['10k', '1m'] as const
type Sides = Record<(typeof keys)[number], Side>

const pickOf = <T>(items: T[]): T => items[Math.floor(Math.random() * items.length)]!

/** The paths of each list: a full page at a random position. */
const lists: Record<string, (side: Side) => string> = {
  events: ({ data }) => {
    const { id, eventIds } = pickOf(data.jobs)
    return `/v1/preview/training-jobs/${id}/events?limit=20&after=${pickOf(eventIds.slice(0, 50))}`
  },
  jobs: ({ data }) => `/v1/preview/training-jobs?limit=20&order=desc&after=${pickOf(data.jobs).id}`,
  jobs_of_state: ({ data }) =>
    `/v1/preview/training-jobs?limit=20&state=Succeeded,Failed&after=${pickOf(data.jobs).id}`,
  checkpoints: ({ data }) => `/v1/preview/models/${pickOf(data.modelIds)}/checkpoints?limit=20&order=desc`,
}

/**
 * Measures lists on a database of 10 thousand events and on one of a million, alternating. Also measures how long the
 * creation of a job takes, and what a thousand clients cost that wait for events.
 */
export async function benchApi(): Promise<BenchResult> {
  const { handle, tearDown } = await bringUpStack(false)
  try {
    return await withBenchServer(handle, (small) => withBenchServer(handle, (large) => measure(small, large)))
  } finally {
    await tearDown()
  }
}

async function measure(small: BenchServer, large: BenchServer): Promise<BenchResult> {
  const sides = {
    '10k': { server: small, data: await fillDatabase(small.pool, small.entity, 10_000) },
    '1m': { server: large, data: await fillDatabase(large.pool, large.entity, 1_000_000) },
  }
  const { ratios, figures } = await measureLists(sides)
  const created = await measureCreation(large)
  const jobIds = await addWaitingJobs(large.pool, large.entity, waitedForJobs)
  const streams = await measureWaiters(large, jobIds, { kind: 'stream', count: waiters })
  const others = await addWaitingJobs(small.pool, small.entity, waitedForJobs)
  const polls = await measureWaiters(small, others, { kind: 'poll', count: waiters })
  return { ratios, figures: { ...figures, ...created, ...streams, ...polls } }
}

async function measureLists(sides: Sides): Promise<BenchResult> {
  const ratios: Record<string, number> = {}
  const figures: Record<string, number> = {}
  for (const [name, path] of Object.entries(lists)) {
    const p95s = { '10k': [] as number[], '1m': [] as number[] }
    await timeRound(sides, path, warmRequests)
    for (let index = 0; index < rounds; index++) {
      const timesMs = await timeRound(sides, path, requestsPerRound)
      for (const key of keys) p95s[key].push(percentile(timesMs[key], 0.95))
    }
    for (const key of keys) {
      figures[`${name}_p95_${key}_ms`] = round(median(p95s[key]))
      figures[`${name}_p95_${key}_spread_ms`] = round(Math.max(...p95s[key]) - Math.min(...p95s[key]))
    }
    ratios[`${name}_p95_1m_to_10k`] = round(median(p95s['1m']) / median(p95s['10k']))
  }
  return { ratios, figures }
}

/** Sends requests to both sides in alternation, so that other load of the machine affects both. */
async function timeRound(sides: Sides, path: (side: Side) => string, count: number) {
  const timesMs = { '10k': [] as number[], '1m': [] as number[] }
  for (let index = 0; index < count; index++) {
    for (const key of keys) timesMs[key].push(await timeRequest(sides[key], path))
  }
  return timesMs
}

async function timeRequest(side: Side, path: (side: Side) => string): Promise<number> {
  const headers = { authorization: `Bearer ${side.server.apiKey}` }
  const startMs = performance.now()
  const response = await fetch(side.server.url + path(side), { headers })
  const { data } = (await response.json()) as { data?: unknown[] }
  if (!data?.length) throw new Error(`a list was answered by ${response.status}`)
  return performance.now() - startMs
}

/** Creates small jobs over REST, with their resources in Kubernetes: one after the other, and eight at a time. */
async function measureCreation({ url, apiKey, pool, namespace }: BenchServer): Promise<Record<string, number>> {
  await addBaseModel(pool, namespace)
  const rest = createRest({ url, apiKey, baseModel })
  const { id } = await rest.createModel()
  const message = { role: 'user', content: 'Hello.' }
  const groups = [{ trajectories: [{ messages_and_choices: [message], reward: 1 }] }]
  const create = async () => {
    const startMs = performance.now()
    await rest.startJob(id, groups)
    return performance.now() - startMs
  }
  const figures: Record<string, number> = {}
  for (const concurrency of [1, 8]) {
    const timesMs: number[] = []
    const work = async () => {
      while (timesMs.length < creations) timesMs.push(await create())
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    figures[`create_${concurrency}_at_a_time_p50_ms`] = round(percentile(timesMs, 0.5))
    figures[`create_${concurrency}_at_a_time_p99_ms`] = round(percentile(timesMs, 0.99))
  }
  return figures
}
