import { parseArgs } from 'node:util'
import { bringUpStack, type StackHandle } from '../support/global-setup.ts'
import { measureBareWrites } from './operator/bare-writes.ts'
import { createModels, runBatch, type BatchResult } from './operator/batch.ts'
import { EndedJobs } from './operator/ended-jobs.ts'
import { measureStarts } from './operator/latency.ts'
import { withPlane, type Plane } from './operator/plane.ts'
import { sumWrites } from './operator/writes.ts'
import { median, percentile, round, type BenchResult } from './result.ts'

/** How many jobs of each kind, and what else is measured. */
export interface OperatorSize {
  /** Jobs that are trained as they come. */
  jobs: number
  models: number
  /** Jobs that wait while others are started. */
  waiting: number
  /** Jobs that are started while others wait. */
  starts: number
  /** Jobs that all wait before the first is trained: few of them, how often, and many. */
  few: number
  rounds: number
  many: number
}

const fullSize: OperatorSize = { jobs: 1000, models: 50, waiting: 1000, starts: 100, few: 100, rounds: 3, many: 5000 }

interface Goal {
  limit: number
  is: 'at most' | 'at least'
}

const atMost = (limit: number): Goal => ({ limit, is: 'at most' })
const atLeast = (limit: number): Goal => ({ limit, is: 'at least' })

/** The promised figures. */
const goals: Readonly<Record<string, Goal>> = {
  jobs_per_s: atLeast(50),
  writes_per_job: atMost(6),
  reconcile_p99_ms: atMost(50),
  post_to_training_started_p50_ms: atMost(25),
  post_to_training_started_p99_ms: atMost(100),
  operator_mb_with_many: atMost(300),
  cost_of_job_many_vs_few: atMost(1.3),
  ours_vs_bare_writes: atLeast(0.5),
}
// Other load of the machine changes a figure by less than this.
const failsBeyond = 10

/**
 * Measures the operator on a real control plane whose nodes, pods and trainers are played: how fast jobs pass, how many
 * writes of the Kubernetes API one takes, how soon one starts while others wait, and whether many cost more than few.
 */
export async function benchOperator(args: string[]): Promise<BenchResult> {
  const { size, profile } = readOptions(args)
  const { handle, tearDown } = await bringUpStack(false)
  try {
    return await benchOperatorOn(handle, size, profile)
  } finally {
    await tearDown()
  }
}

/** The same on a running stack. @throws {Error} if a figure is far beyond its goal */
export function benchOperatorOn(stack: StackHandle, size: OperatorSize, profile?: string): Promise<BenchResult> {
  const operatorOptions = profile === undefined ? '' : `--cpu-prof --cpu-prof-dir=${profile}`
  return withPlane(stack, { operatorOptions }, async (plane) => {
    const ended = new EndedJobs(plane)
    try {
      const result = await measure(stack, plane, { ended, size })
      checkGoals(result)
      return result
    } finally {
      await ended.stop()
    }
  })
}

function readOptions(args: string[]): { size: OperatorSize; profile: string | undefined } {
  const names = Object.keys(fullSize) as (keyof OperatorSize)[]
  const sizes = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  const { values } = parseArgs({ args, options: { ...sizes, profile: { type: 'string' } } })
  const given = values as Record<string, string | undefined>
  const size = Object.fromEntries(names.map((name) => [name, readCount(name, given[name] ?? String(fullSize[name]))]))
  return { size: size as unknown as OperatorSize, profile: given['profile'] }
}

function readCount(name: string, text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} must be a whole number from 1 on`)
  return count
}

async function measure(
  stack: StackHandle,
  plane: Plane,
  { ended, size }: { ended: EndedJobs; size: OperatorSize },
): Promise<BenchResult> {
  const models = await createModels(plane, size.models)
  const wait = async () => {}
  // The first jobs warm all processes up.
  await runBatch(plane, ended, { jobs: size.few, models })
  const passed = report('as they come', await runBatch(plane, ended, { jobs: size.jobs, models }))
  const barePerSecond = await measureBareWrites(stack, plane, passed)
  const few: BatchResult[] = []
  while (few.length < size.rounds) {
    few.push(report('few wait', await runBatch(plane, ended, { jobs: size.few, models, between: wait })))
  }
  const startedMs: number[] = []
  const start = async () => {
    const free = await createModels(plane, Math.min(size.starts, 20))
    plane.trainers.train({ isReleased: false })
    startedMs.push(...(await measureStarts(plane, free, size.starts)))
  }
  await runBatch(plane, ended, { jobs: size.waiting, models, between: start })
  await ended.waitFor(ended.count)
  const many = report('many wait', await runBatch(plane, ended, { jobs: size.many, models, between: wait }))
  return describe({ passed, barePerSecond, few, startedMs, many })
}

interface Measured {
  passed: BatchResult
  barePerSecond: number
  few: BatchResult[]
  startedMs: number[]
  many: BatchResult
}

function describe({ passed, barePerSecond, few, startedMs, many }: Measured): BenchResult {
  const figures: Record<string, number> = {
    jobs_per_s: passed.jobs / passed.seconds,
    bare_writes_jobs_per_s: barePerSecond,
    writes_per_job: sumWrites(passed.writes) / passed.jobs,
    reconcile_p99_ms: passed.reconcileP99Ms,
    post_to_training_started_p50_ms: median(startedMs),
    post_to_training_started_p99_ms: percentile(startedMs, 0.99),
    operator_mb_with_many: many.operatorMb,
    writes_per_job_of_many: sumWrites(many.writes) / many.jobs,
  }
  for (const [name, ms] of Object.entries(passed.cpuMs)) figures[`${name}_cpu_ms_per_job`] = ms
  for (const [key, count] of passed.writes)
    figures[`${key.toLowerCase().replaceAll(' ', '_')}_per_job`] = count / passed.jobs
  const ratios = {
    cost_of_job_many_vs_few: costOf(many) / median(few.map(costOf)),
    ours_vs_bare_writes: passed.jobs / passed.seconds / barePerSecond,
  }
  return { ratios: roundAll(ratios), figures: roundAll(figures) }
}

/** Processor time of the operator and of Postgres, whose statements grow with what they read. */
function costOf({ cpuMs }: BatchResult): number {
  return cpuMs.operator + cpuMs.postgres
}

function roundAll(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, round(value)]))
}

function report(what: string, batch: BatchResult): BatchResult {
  const { jobs, seconds, writes, reconcileP99Ms, cpuMs, operatorMb } = batch
  const cpu = Object.entries(cpuMs).map(([name, ms]) => `${name} ${round(ms)}`)
  const kinds = [...writes].map(([key, count]) => `${key} ${round(count / jobs)}`)
  process.stderr.write(
    `${jobs} jobs, ${what}: ${round(seconds)} s, ${round(sumWrites(writes) / jobs)} writes a job (${kinds.join(', ')}), ` +
      `reconcile p99 ${round(reconcileP99Ms)} ms, ms of processor time a job: ${cpu.join(', ')}; operator ${round(operatorMb)} MB\n`,
  )
  return batch
}

/** @throws {Error} if a figure is far beyond its goal */
function checkGoals({ ratios, figures }: BenchResult): void {
  const measured: Record<string, number> = { ...figures, ...ratios }
  const failed = Object.entries(goals).filter(([name, { limit, is }]) => {
    const value = measured[name]!
    process.stdout.write(`${name}: goal ${is} ${limit}, measured ${value}\n`)
    return is === 'at most' ? value > limit * failsBeyond : value < limit / failsBeyond
  })
  if (failed.length > 0)
    throw new Error(`more than ${failsBeyond} times the goal: ${failed.map(([name]) => name).join(', ')}`)
}
