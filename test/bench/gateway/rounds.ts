import { setTimeout as delay } from 'node:timers/promises'
import { percentile, round } from '../result.ts'
import type { Contestant } from './contestants/contestant.ts'
import type { LoadClient } from './load.ts'
import { readCpu, subtractCpu } from './processor.ts'
import type { Size } from './sizes.ts'
import { buildChat, workloads, type WorkloadName } from './workloads.ts'

/** Chats of one kind, with their number and concurrency. */
interface Case {
  workload: WorkloadName
  concurrency: number
  count: number
}

/** The measurements of one contestant with a case in one round. */
export interface Sample {
  /** The processor time of all its processes for one request, including Postgres. */
  cpuUs: number
  postgresUs: number
  p50Ms: number
  p99Ms: number
  /** Of wall time. */
  requestsPerS: number
}

/** Samples of all rounds, by contestant and case. */
export type Samples = Map<string, Sample[]>

const concurrencies = [16, 1]

function listCases({ plain, streams, singleStreams }: Size): Case[] {
  const cases = concurrencies.flatMap((concurrency) =>
    (['4kb', '64kb_reply', '64kb_request'] as const).map((workload) => ({ workload, concurrency, count: plain })),
  )
  const streamed: Case[] = [
    { workload: 'stream', concurrency: 16, count: streams },
    { workload: 'stream', concurrency: 1, count: singleStreams },
  ]
  return [...cases, ...streamed]
}

export function keyOf(contestant: string, { workload, concurrency }: Omit<Case, 'count'>): string {
  return `${contestant} ${workload} ${concurrency}`
}

/** Measures all contestants with each case in turn, in another order each time, after a warm-up. */
export async function measureRounds(
  client: LoadClient,
  contestants: readonly Contestant[],
  size: Size,
): Promise<Samples> {
  const samples: Samples = new Map()
  const cases = listCases(size)
  for (const found of cases) {
    if (found.concurrency === 1) continue
    const count = Math.ceil(found.count * size.warmUp)
    report('warm-up', found, await measureCase(client, contestants, { ...found, count, settleMs: size.settleMs }))
  }
  for (let index = 1; index <= size.rounds; index++) {
    for (const found of cases) {
      const measured = await measureCase(client, contestants, { ...found, settleMs: size.settleMs })
      report(`round ${index} of ${size.rounds}`, found, measured)
      for (const [name, sample] of measured) addTo(samples, keyOf(name, found), sample)
    }
  }
  return samples
}

/** Measures one case with all contestants that take part in it, in another order each time. */
async function measureCase(
  client: LoadClient,
  contestants: readonly Contestant[],
  found: Case & Pick<Size, 'settleMs'>,
): Promise<Map<string, Sample>> {
  const measured = new Map<string, Sample>()
  for (const contestant of shuffle(contestants)) {
    if (!contestant.workloads.includes(found.workload)) continue
    await delay(found.settleMs)
    measured.set(contestant.name, await measureOnce(client, contestant, found))
  }
  return measured
}

function addTo(samples: Samples, key: string, sample: Sample): void {
  samples.set(key, [...(samples.get(key) ?? []), sample])
}

/** Prints progress, because the whole benchmark takes minutes. */
function report(title: string, { workload, concurrency }: Case, measured: Map<string, Sample>): void {
  const texts = [...measured].map(([name, { cpuUs }]) => `${name} ${round(cpuUs)}`)
  process.stderr.write(`${title}, ${workload}, ${concurrency} at a time, CPU microseconds: ${texts.join(', ')}\n`)
}

async function measureOnce(client: LoadClient, contestant: Contestant, found: Case): Promise<Sample> {
  const { host, port, apiKey, models, share } = contestant
  const bodies = models.map((model) => buildChat(model, workloads[found.workload]).toString())
  const count = Math.max(found.concurrency, Math.round(found.count * share))
  const task = { kind: 'load', target: { host, port, apiKey, bodies }, count, concurrency: found.concurrency } as const
  const before = readAll(contestant)
  const startMs = performance.now()
  const { latenciesMs = [] } = await client.run(task)
  const wallMs = performance.now() - startMs
  const after = readAll(contestant)
  const postgresUs = subtractCpu(after.postgres, before.postgres) / count
  return {
    cpuUs: subtractCpu(after.own, before.own) / count + postgresUs,
    postgresUs,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    requestsPerS: (count * 1_000) / wallMs,
  }
}

function readAll({ listProcesses }: Contestant) {
  const { own, postgres } = listProcesses()
  return { own: readCpu(own), postgres: readCpu(postgres) }
}

function shuffle<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
