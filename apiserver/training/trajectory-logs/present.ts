import type { LogRow, LogStatistics } from '../../../db/trajectories/logs.ts'

export function presentLogMade({ id, split, step, groups, trajectories }: LogRow) {
  return { id, split, step, num_groups: groups, num_trajectories: trajectories }
}

export function presentLog(log: LogRow) {
  return {
    ...presentLogMade(log),
    num_exceptions: log.exceptions,
    ...presentRewards(log.trajectories > 0 ? log : noRewards, log.trajectories),
    created_at: log.createdAt.toISOString(),
  }
}

export function presentLogStatistics(statistics: LogStatistics) {
  const { split, step, logs, groups, trajectories, exceptions } = statistics
  return {
    id: `${split}:${step}`,
    split,
    step,
    num_logs: logs,
    num_groups: groups,
    num_trajectories: trajectories,
    num_exceptions: exceptions,
    ...presentRewards(statistics, trajectories),
  }
}

type Rewards = Pick<LogStatistics, 'meanReward' | 'minReward' | 'maxReward' | 'rewardSquares'>

const noRewards: Rewards = { meanReward: null, minReward: null, maxReward: null, rewardSquares: null }

function presentRewards({ meanReward, minReward, maxReward, rewardSquares }: Rewards, count: number) {
  // The squares of the largest numbers overflow.
  const isKnown = rewardSquares !== null && Number.isFinite(rewardSquares)
  return {
    mean_reward: meanReward,
    min_reward: minReward,
    max_reward: maxReward,
    std_reward: isKnown ? Math.sqrt(rewardSquares / count) : null,
  }
}
