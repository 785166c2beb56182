import { forEachConcurrent } from '../../../artifacts/store/for-each-concurrent.ts'
import { listTree, readCpu, readMemoryMb, subtractCpu, type CpuReading } from '../gateway/processor.ts'
import type { EndedJobs } from './ended-jobs.ts'
import type { Plane } from './plane.ts'
import { percentileOf, readReconciles, type Reconciles } from './reconciles.ts'
import { readWrites, subtractWrites, type Writes } from './writes.ts'

/** What a batch of jobs took, from its first request to its last status. */
export interface BatchResult {
  jobs: number
  seconds: number
  /** Up to the last terminal condition. */
  writes: Writes
  reconcileP99Ms: number
  /** Milliseconds of processor time for each job. */
  cpuMs: Record<keyof Plane['pids'], number>
  operatorMb: number
}

interface BatchPlan {
  jobs: number
  models: readonly string[]
  /** Jobs wait until all of them are there, and `between` is over. Without it, they are trained as they come. */
  between?: () => Promise<void>
}

interface Reading {
  atMs: number
  writes: Writes
  reconciles: Reconciles
  cpu: Record<string, CpuReading>
}

// As many as the gateway of a team that starts its runs at once.
const concurrency = 8
const message = { role: 'user', content: 'a' }
const trajectory = { messages_and_choices: [message, { ...message, role: 'assistant' }], reward: 1 }
const groups = [{ trajectories: [trajectory, { ...trajectory, reward: 0 }] }]

/** Starts a small job. Returns its id. */
export function postJob({ rest }: Pick<Plane, 'rest'>, modelId: string): Promise<string> {
  return rest.startJob(modelId, groups)
}

/** Creates models. Returns their ids. */
export async function createModels({ rest }: Pick<Plane, 'rest'>, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push((await rest.createModel()).id)
  return ids
}

/** Sends jobs over REST, spread over the models, until their resources say that they have succeeded. */
export async function runBatch(plane: Plane, ended: EndedJobs, plan: BatchPlan): Promise<BatchResult> {
  const { jobs, models, between } = plan
  const before = await read(plane)
  const target = ended.count + jobs
  if (between) plane.trainers.hold(Math.min(models.length, jobs))
  else plane.trainers.train({ isReleased: true })
  const post = async (number: number) => void (await postJob(plane, models[number % models.length]!))
  await forEachConcurrent(countTo(jobs), concurrency, post)
  await between?.()
  plane.trainers.train({ isReleased: true })
  await ended.waitFor(target)
  return describe(plane, jobs, { before, after: await read(plane) })
}

/** The numbers from 0, as many as `count`. */
export async function* countTo(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number++) yield number
}

async function read({ readRaw, metricsPort, pids }: Plane): Promise<Reading> {
  const atMs = performance.now()
  const cpu = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, readCpu(listTree(pid))]))
  return { atMs, cpu, writes: readWrites(await readRaw('/metrics')), reconciles: await readReconciles(metricsPort) }
}

function describe({ pids }: Plane, jobs: number, { before, after }: { before: Reading; after: Reading }): BatchResult {
  const cpuOf = (name: string) => subtractCpu(after.cpu[name]!, before.cpu[name]!) / 1000 / jobs
  return {
    jobs,
    seconds: (after.atMs - before.atMs) / 1000,
    writes: subtractWrites(after.writes, before.writes),
    reconcileP99Ms: percentileOf(after.reconciles, before.reconciles, 0.99) * 1000,
    cpuMs: Object.fromEntries(Object.keys(pids).map((name) => [name, cpuOf(name)])) as BatchResult['cpuMs'],
    operatorMb: readMemoryMb([pids.operator]),
  }
}
