import { setTimeout as delay } from 'node:timers/promises'
import { forEachConcurrent } from '../../../artifacts/store/for-each-concurrent.ts'
import { readMetrics } from '../../support/metrics.ts'
import { listTree, readCpu, readMemoryMb, subtractCpu } from '../processes.ts'
import { note } from '../harness.ts'
import { percentileOf, readReconciles, readWrites, subtract, sum, type Counts } from './metrics.ts'
import type { Plane } from './plane.ts'

/** What a batch of jobs took, from its first request to its last status. */
export interface BatchResult {
  jobs: number
  perSecond: number
  /** For each job, up to its terminal condition. */
  writes: Counts
  writesPerJob: number
  reconcileP99Ms: number
  /** Milliseconds of processor time for each job. */
  cpuMs: Record<keyof Plane['pids'], number>
  operatorMb: number
}

interface BatchPlan {
  jobs: number
  models: readonly string[]
  /** Jobs wait until all of them are there, and `between` is over. Without it, they are trained as they come. */
  between?: () => Promise<unknown>
}

// As many as the gateway of a team that starts its runs at once.
const concurrency = 8
const maxSilenceMs = 120_000
const message = { role: 'user', content: 'a' }
const trajectory = { messages_and_choices: [message, { ...message, role: 'assistant' }], reward: 1 }
const groups = [{ trajectories: [trajectory, { ...trajectory, reward: 0 }] }]

/** Starts a small job. Returns its id. */
export function postJob({ rest }: Plane, modelId: string): Promise<string> {
  return rest.startJob(modelId, groups)
}

/** Creates models. Returns their ids. */
export async function createModels({ rest }: Plane, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push((await rest.createModel()).id)
  return ids
}

/** Sends jobs over REST, spread over the models, until their resources say that they have succeeded. */
export async function runBatch(plane: Plane, what: string, { jobs, models, between }: BatchPlan): Promise<BatchResult> {
  const { trainers, ended } = plane
  const before = await read(plane)
  const target = ended.count + jobs
  if (between) trainers.hold(Math.min(models.length, jobs))
  else trainers.train({ isReleased: true })
  const post = async (number: number) => void (await postJob(plane, models[number % models.length]!))
  await forEachConcurrent(countTo(jobs), concurrency, post)
  await between?.()
  trainers.train({ isReleased: true })
  await waitForEnds(plane, target)
  const after = await read(plane)
  const total = subtract(after.writes, before.writes)
  const cpuOf = (name: string) => subtractCpu(after.cpu[name]!, before.cpu[name]!) / 1000 / jobs
  const cpuMs = Object.fromEntries(Object.keys(plane.pids).map((name) => [name, cpuOf(name)])) as BatchResult['cpuMs']
  const result = {
    perSecond: (jobs / (after.atMs - before.atMs)) * 1000,
    writesPerJob: sum(total) / jobs,
    reconcileP99Ms: percentileOf(subtract(after.reconciles, before.reconciles), 0.99) * 1000,
    operatorMb: readMemoryMb(plane.pids.operator),
  }
  note(`${jobs} jobs, ${what}`, { ...result, ...cpuMs })
  return { jobs, ...result, cpuMs, writes: new Map([...total].map(([key, count]) => [key, count / jobs])) }
}

/** Waits until this many jobs have ended, all of them well. */
async function waitForEnds({ ended, isLost }: Plane, count: number): Promise<void> {
  const startMs = performance.now()
  while (ended.count < count) {
    if (isLost()) throw new Error('the operator has ended: this machine is too busy')
    if (ended.failed !== undefined) throw new Error(`a job did not succeed: ${ended.failed}`)
    if (performance.now() - Math.max(startMs, ended.changedAt) > maxSilenceMs)
      throw new Error(`${ended.count} of ${count} jobs have ended, and no other one`)
    await delay(10)
  }
}

/** The numbers from 0, as many as `count`. */
export async function* countTo(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number++) yield number
}

async function read({ readRaw, metricsPort, pids }: Plane) {
  const atMs = performance.now()
  const cpu = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, readCpu(listTree(pid))]))
  const reconciles = readReconciles(await readMetrics(metricsPort))
  return { atMs, cpu, writes: readWrites(await readRaw('/metrics')), reconciles }
}
