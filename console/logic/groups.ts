import { mean, standardDeviation } from './numbers.ts'

/** The used part of a trajectory in lists. */
export interface ListedTrajectory {
  id: string
  job_id: string | null
  log_id: string | null
  group_index: number
  group_exceptions: number
  scenario_id: string | null
  prompt_hash: string
  reward: number
  advantage: number | null
  push: number | null
  metrics: Readonly<Record<string, number | boolean>>
  tokens: number
  flags: string[]
}

/** The step of a trajectory. Its job may not have made it, and may never. */
export const nameStep = (step: number | null): string => (step === null ? 'no step' : `step ${step}`)

export interface Group<T extends ListedTrajectory> {
  key: string
  name: string
  trajectories: T[]
  meanReward: number
  deviation: number
  exceptions: number
  /** Why nothing was learned from the group. */
  dropped: string | undefined
}

export const trajectoryOrders = ['group', 'reward', 'advantage', 'push', 'tokens'] as const
export type TrajectoryOrder = (typeof trajectoryOrders)[number]

/** Puts trajectories of one prompt and source together, in the order in which they were sent. */
export function groupTrajectories<T extends ListedTrajectory>(rows: readonly T[]): Group<T>[] {
  const byGroup = Map.groupBy(rows, (row) => `${row.job_id ?? row.log_id} ${row.group_index}`)
  return [...byGroup].map(([key, trajectories]) => {
    const rewards = trajectories.map(({ reward }) => reward)
    const [first] = trajectories
    return {
      key,
      name: nameOf(first!),
      trajectories,
      meanReward: mean(rewards)!,
      deviation: standardDeviation(rewards)!,
      exceptions: first!.group_exceptions,
      dropped: findReason(trajectories),
    }
  })
}

const reasonsOfFlags: Record<string, string> = {
  no_logprobs: 'answers without log-probabilities',
  zero_advantage: 'rewards equal to their mean',
}

function findReason(trajectories: readonly ListedTrajectory[]): string | undefined {
  if (trajectories.every(({ job_id }) => job_id === null)) return undefined
  if (trajectories.every(({ reward }) => reward === trajectories[0]!.reward)) return 'equal rewards'
  const has = (flag: string) => trajectories.every(({ flags }) => flags.includes(flag))
  const flag = Object.keys(reasonsOfFlags).find(has)
  if (flag !== undefined) return reasonsOfFlags[flag]
  // Its rewards differ, and still nothing of it was in a gradient.
  return trajectories.every(({ push }) => push === 0) ? 'too long, or left out' : undefined
}

/** The names of all metrics of some trajectories. */
export function listMetrics(rows: readonly Pick<ListedTrajectory, 'metrics'>[]): string[] {
  return [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))].toSorted()
}

/** What a step learned from: the trajectories that moved the policy, and how the pushes divide. */
export function summarizePushes(rows: readonly Pick<ListedTrajectory, 'push'>[]): {
  likelier: number
  unlikelier: number
  none: number
  /** The least number of trajectories with half of all pushes. */
  half: number
} {
  const pushes = rows.flatMap(({ push }) => (push === null ? [] : [push]))
  const sizes = pushes.map(Math.abs).toSorted((a, b) => b - a)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let [sum, half] = [0, 0]
  while (sum < total / 2) sum += sizes[half++]!
  return {
    likelier: pushes.filter((push) => push > 0).length,
    unlikelier: pushes.filter((push) => push < 0).length,
    none: pushes.filter((push) => push === 0).length,
    half,
  }
}

/** Sorts rows by a number, the largest first. Pushes and advantages are compared by their size. Unknown ones are last. */
export function sortTrajectories<T extends ListedTrajectory>(rows: readonly T[], order: TrajectoryOrder): T[] {
  if (order === 'group') return [...rows]
  const rank = (row: T) => {
    const value = row[order]
    if (value === null) return -Infinity
    return order === 'push' || order === 'advantage' ? Math.abs(value) : value
  }
  return rows.toSorted((a, b) => (rank(b) === rank(a) ? 0 : rank(b) - rank(a)))
}

/** How the rewards of a prompt differ between two steps. */
export interface Rise<T> {
  name: string
  before: number
  after: number
  rise: number
  /** A trajectory of the earlier step with the least reward, and one of the later step with the greatest. */
  worst: T
  best: T
}

/** The prompts that both steps have, those whose mean reward rose most first. */
export function compareSteps<T extends ListedTrajectory>(earlier: readonly T[], later: readonly T[]): Rise<T>[] {
  const byPrompt = Map.groupBy(earlier, ({ prompt_hash }) => prompt_hash)
  const now = [...Map.groupBy(later, ({ prompt_hash }) => prompt_hash)]
  const rises = now.flatMap(([prompt, own]): Rise<T>[] => {
    const old = byPrompt.get(prompt)
    if (!old) return []
    const [before, after] = [meanReward(old), meanReward(own)]
    const worst = old.reduce((a, b) => (b.reward < a.reward ? b : a))
    const best = own.reduce((a, b) => (b.reward > a.reward ? b : a))
    return [{ name: nameOf(best), before, after, rise: after - before, worst, best }]
  })
  return rises.toSorted((a, b) => b.rise - a.rise)
}

const meanReward = (rows: readonly ListedTrajectory[]) => mean(rows.map(({ reward }) => reward))!

function nameOf({ scenario_id, prompt_hash }: Pick<ListedTrajectory, 'scenario_id' | 'prompt_hash'>): string {
  return scenario_id ?? `prompt ${prompt_hash.slice(0, 8)}`
}
