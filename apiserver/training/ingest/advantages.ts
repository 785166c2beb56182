import type { TrajectoryIndexRow } from './index-row.ts'

// The same value as in training. It avoids a division by zero for equal rewards.
const tiny = 1e-6
// As in training: rewards that differ by less than this share of their size, or this distance, are equal but for noise.
const equalShare = 1e-6
const equalDistance = 1e-12

/** Fills in the advantage of each trajectory: its reward compared with the rewards of its group. */
export function fillAdvantages(rows: TrajectoryIndexRow[], scaleRewards: boolean): void {
  for (const group of Map.groupBy(rows, (row) => row.group_index).values()) {
    const rewards = group.map((row) => row.reward)
    const figures = describeRewards(rewards)
    const { mean, deviation } = figures
    for (const row of group) {
      const advantage = areEqual(figures) ? 0 : (row.reward - mean) / (scaleRewards ? deviation + tiny : 1)
      row.advantage = Number.isFinite(advantage) ? advantage : null
      if (advantage === 0) row.flags.push('zero_advantage')
    }
  }
}

function areEqual({ min, max }: RewardFigures): boolean {
  return max - min <= Math.max(equalDistance, equalShare * Math.max(Math.abs(min), Math.abs(max)))
}

/**
 * Statistics of a set of rewards. `squares` is the sum of squared distances from the mean. With it, sets can be
 * combined.
 */
export interface RewardFigures {
  count: number
  mean: number
  min: number
  max: number
  squares: number
  /** The standard deviation of the whole population. */
  deviation: number
}

/** Without rewards, every value is 0. */
export function describeRewards(rewards: number[]): RewardFigures {
  const count = rewards.length
  if (count === 0) return { count, mean: 0, min: 0, max: 0, squares: 0, deviation: 0 }
  const min = rewards.reduce((least, reward) => Math.min(least, reward))
  const max = rewards.reduce((most, reward) => Math.max(most, reward))
  // The mean of equal rewards is exactly their value, without rounding.
  const mean = min === max ? min : meanOf(rewards)
  // Distances are divided by the largest one before they are squared, because the squares of very large numbers
  // overflow.
  const scale = Math.max(max - mean, mean - min) || 1
  const parts = rewards.reduce((total, reward) => total + ((reward - mean) / scale) ** 2, 0)
  return { count, mean, min, max, squares: parts * scale ** 2, deviation: scale * Math.sqrt(parts / count) }
}

function meanOf(rewards: number[]): number {
  const sum = sumExactly(rewards)
  // The sum only overflows for rewards near the largest number.
  return Number.isFinite(sum) ? sum / rewards.length : rewards.reduce((total, part) => total + part / rewards.length, 0)
}

/** Adds the rounding errors at the end (Neumaier). The sum in training is exact, so its zeros must be zeros here. */
function sumExactly(values: number[]): number {
  let sum = 0
  let rest = 0
  for (const value of values) {
    const next = sum + value
    rest += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
    sum = next
  }
  return sum + rest
}
