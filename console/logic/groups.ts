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
  tokens: number
  flags: string[]
}

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
      name: first!.scenario_id ?? `prompt ${first!.prompt_hash.slice(0, 8)}`,
      trajectories,
      meanReward: mean(rewards)!,
      deviation: standardDeviation(rewards)!,
      exceptions: first!.group_exceptions,
      dropped: findReason(trajectories),
    }
  })
}

function findReason(trajectories: readonly ListedTrajectory[]): string | undefined {
  if (trajectories.every(({ job_id }) => job_id === null)) return undefined
  if (trajectories.every(({ reward }) => reward === trajectories[0]!.reward)) return 'equal rewards'
  const flag = trajectories[0]!.flags.find((each) => trajectories.every(({ flags }) => flags.includes(each)))
  return flag?.replaceAll('_', ' ')
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
