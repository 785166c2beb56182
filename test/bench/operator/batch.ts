import { setTimeout as delay } from 'node:timers/promises'
import { forEachConcurrent } from '../../../artifacts/store/for-each-concurrent.ts'
import { readMetrics } from '../../support/metrics.ts'
import { listTree, readCpu, readMemoryMb, subtractCpu } from '../processes.ts'
import { note } from '../harness.ts'
import { countWrites, percentileOf, readReconciles, subtract } from './metrics.ts'
import type { Plane } from './plane.ts'

/** What a batch of jobs took, from its first request to its last status. */
export interface BatchResult {
  perSecond: number
  /** For each job, up to its terminal condition. */
  writesPerJob: number
  reconcileP99Ms: number
  /** Processor time for each job of the operator and of Postgres, whose statements grow with what they read. */
  costMs: number
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
  const result = {
    perSecond: (jobs / (after.atMs - before.atMs)) * 1000,
    writesPerJob: (after.writes - before.writes) / jobs,
    reconcileP99Ms: percentileOf(subtract(after.reconciles, before.reconciles), 0.99) * 1000,
    costMs: subtractCpu(after.cpu, before.cpu) / 1000 / jobs,
    operatorMb: readMemoryMb(plane.pids.operator),
  }
  note(`${jobs} jobs, ${what}`, result)
  return result
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
async function* countTo(count: number): AsyncGenerator<number> {
  for (let number = 0; number < count; number++) yield number
}

async function read({ readRaw, metricsPort, pids }: Plane) {
  const atMs = performance.now()
  const cpu = readCpu([...listTree(pids.operator), ...listTree(pids.postgres)])
  const reconciles = readReconciles(await readMetrics(metricsPort))
  return { atMs, cpu, writes: countWrites(await readRaw('/metrics')), reconciles }
}
