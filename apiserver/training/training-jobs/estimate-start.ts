import type { PastJob, StartEvidence } from '../../../db/jobs/start-evidence.ts'

/** A waiting job, and the jobs before it. */
export interface WaitingJob {
  mode: 'Warm' | 'Dedicated'
  /** How many unfinished jobs of its model are before it. */
  ahead: number
  /** The position of the first job of its model among those that wait for a trainer; null if that does not wait for one. */
  position: number | null
  /** How many jobs of other models wait for a trainer. Not needed for the first job of a model. */
  others: number
}

// Fewer past jobs say little.
const minPast = 3

/**
 * In how many seconds a waiting job probably starts, if no other jobs come before it. Undefined if too little is known.
 *
 * Jobs take as long as the median of past ones, and a job that has already taken some time as long as the median of those
 * that took longer. As many jobs train at once as now.
 */
export function estimateStart(job: WaitingJob, evidence: StartEvidence): number | undefined {
  const start = estimate(job, evidence)
  return Number.isFinite(start) ? start : undefined
}

/** What is not known is NaN, and so is all that depends on it. */
function estimate({ mode, ahead, position, others }: WaitingJob, evidence: StartEvidence): number {
  const ofBaseModel = evidence.ofBaseModel.length < minPast ? [] : evidence.ofBaseModel
  const ofModel = evidence.ofModel.length < minPast ? ofBaseModel : evidence.ofModel
  const wait =
    mode === 'Warm'
      ? waitForTrainer(ofBaseModel, evidence.running, { position: position ?? Number.NaN, others })
      : waitForOwnPods(ofModel, evidence.firstSeconds)
  if (ahead === 0) return wait.first
  const totals = ofModel.map(({ total }) => total)
  const one = median(totals)
  const firstEnd = evidence.activeSeconds === null ? wait.first + one : findRest(totals, evidence.activeSeconds)
  return firstEnd + (ahead - 1) * (wait.next + one) + wait.next
}

/** How long the first job of a model waits, and then each of the next ones when it is at its turn. */
interface Wait {
  first: number
  next: number
}

/** Each trainer takes the next job when one of its own ends. One that takes longer than all past jobs is not counted on. */
function waitForTrainer(past: PastJob[], running: number[], line: { position: number; others: number }): Wait {
  const each = past.map(({ training }) => training)
  const one = median(each)
  const rests = running
    .map((spent) => findRest(each, spent))
    .filter(Number.isFinite)
    .toSorted((a, b) => a - b)
  const earlier = line.position - 1
  const round = Math.floor(earlier / rests.length)
  return {
    first: (rests[earlier % rests.length] ?? Number.NaN) + round * one,
    next: line.others === 0 ? 0 : (line.others * one) / rests.length,
  }
}

/** What the cluster has room for is not known. It took past jobs some time to get a pod that trains. */
function waitForOwnPods(past: PastJob[], spent: number): Wait {
  const starts = past.map(({ start }) => start)
  return { first: findRest(starts, spent), next: median(starts) }
}

/** How long something still takes that has taken some time. */
function findRest(past: number[], spent: number): number {
  return median(past.filter((each) => each > spent)) - spent
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}
