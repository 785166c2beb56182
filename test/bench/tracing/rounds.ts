import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '../../../db/pool.ts'
import { median, round } from '../result.ts'
import { createCalls, type BenchCall } from './calls.ts'
import { readTreeSeconds } from './processor.ts'

const seed = 20_261_121
const settleLimitMs = 60_000

/** A way of storing calls. */
export interface Writer {
  name: string
  callsPerRound: number
  /** The CPU time of these processes and of their descendants is measured. */
  pids: number[]
  /**
   * Prepares everything that is not measured. The returned function is measured. When it resolves, all calls are
   * durable.
   */
  prepare: (calls: BenchCall[]) => Promise<() => Promise<unknown>>
}

/** The results of a writer in each round. */
export interface Measured {
  perSecond: number[]
  perCpuSecond: number[]
}

/** All writers store the same calls, in alternation, after a warm-up of a tenth. */
export async function measureWriters(
  pool: Pool,
  writers: readonly Writer[],
  rounds: number,
): Promise<Record<string, Measured>> {
  const source = createCalls('bench/source', seed)
  const measured: Record<string, Measured> = Object.fromEntries(
    writers.map(({ name }) => [name, { perSecond: [], perCpuSecond: [] }]),
  )
  const largest = Math.max(...writers.map(({ callsPerRound }) => callsPerRound))
  for (let index = 0; index <= rounds; index++) {
    const calls = source.take(largest)
    const title = index === 0 ? 'warm-up' : `round ${index} of ${rounds}`
    for (const writer of writers) {
      const found = await measureOnce(pool, writer, calls.slice(0, writer.callsPerRound / (index === 0 ? 10 : 1)))
      const speeds = `${round(found.perSecond)} calls/s, ${round(found.perCpuSecond)} calls per CPU second`
      process.stderr.write(`${title}, ${writer.name}: ${speeds}\n`)
      if (index > 0) addTo(measured[writer.name]!, found)
    }
  }
  return measured
}

function addTo(measured: Measured, found: Record<keyof Measured, number>): void {
  measured.perSecond.push(found.perSecond)
  measured.perCpuSecond.push(found.perCpuSecond)
}

async function measureOnce(pool: Pool, { pids, prepare }: Writer, calls: BenchCall[]) {
  const work = await prepare(calls)
  await settle(pool)
  const readCpuSeconds = () => pids.reduce((sum, pid) => sum + readTreeSeconds(pid), 0)
  const [cpuSeconds, startMs] = [readCpuSeconds(), performance.now()]
  await work()
  const seconds = (performance.now() - startMs) / 1000
  return { perSecond: calls.length / seconds, perCpuSecond: calls.length / (readCpuSeconds() - cpuSeconds) }
}

/** The remaining work of Postgres for one writer must not slow down the next one. */
async function settle(pool: Pool): Promise<void> {
  const limitMs = performance.now() + settleLimitMs
  await pool.query('CHECKPOINT')
  const isBusy = async () => {
    const { rows } = await pool.query(`SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'`)
    return rows.length > 0
  }
  while (performance.now() < limitMs && (await isBusy())) await delay(200)
}

/** The median and the spread (maximum minus minimum) of each writer. */
export function describe(measured: Record<string, Measured>): Record<string, number> {
  const figures: Record<string, number> = {}
  for (const [name, { perSecond, perCpuSecond }] of Object.entries(measured)) {
    figures[`${name}_calls_per_s`] = round(median(perSecond))
    figures[`${name}_calls_per_s_spread`] = round(Math.max(...perSecond) - Math.min(...perSecond))
    figures[`${name}_calls_per_cpu_s`] = round(median(perCpuSecond))
    figures[`${name}_calls_per_cpu_s_spread`] = round(Math.max(...perCpuSecond) - Math.min(...perCpuSecond))
  }
  return figures
}

/** How many times faster one writer is than another, as the median of the rounds. */
export function ratio(one: number[], other: number[]): number {
  return round(median(one.map((value, index) => value / other[index]!)))
}
