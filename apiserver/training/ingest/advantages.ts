import type { TrajectoryIndexRow } from './index-row.ts'

// As in training, so that a group of equal rewards divides by something.
const tiny = 1e-6

/** Fills in how much better than its group each trajectory is: advantages compare the rewards of one group. */
export function fillAdvantages(rows: TrajectoryIndexRow[], scaleRewards: boolean): void {
  for (const group of Map.groupBy(rows, (row) => row.group_index).values()) {
    const rewards = group.map((row) => row.reward)
    const { mean, deviation } = describeRewards(rewards)
    for (const row of group) {
      const advantage = (row.reward - mean) / (scaleRewards ? deviation + tiny : 1)
      row.advantage = Number.isFinite(advantage) ? advantage : null
      if (advantage === 0) row.flags.push('zero_advantage')
    }
  }
}

/** Of a set of rewards; `squares` is the sum of squared distances from the mean, by which sets can be put together. */
export interface RewardFigures {
  count: number
  mean: number
  min: number
  max: number
  squares: number
  /** Of the whole population. */
  deviation: number
}

/** Of no rewards at all, everything is 0. */
export function describeRewards(rewards: number[]): RewardFigures {
  const count = rewards.length
  if (count === 0) return { count, mean: 0, min: 0, max: 0, squares: 0, deviation: 0 }
  const min = rewards.reduce((least, reward) => Math.min(least, reward))
  const max = rewards.reduce((most, reward) => Math.max(most, reward))
  // Equal rewards have their own value as the mean, and no rounding between.
  const mean = min === max ? min : meanOf(rewards)
  // Distances are squared as parts of the largest: of very large ones the squares are no numbers any more.
  const scale = Math.max(max - mean, mean - min) || 1
  const parts = rewards.reduce((total, reward) => total + ((reward - mean) / scale) ** 2, 0)
  return { count, mean, min, max, squares: parts * scale ** 2, deviation: scale * Math.sqrt(parts / count) }
}

function meanOf(rewards: number[]): number {
  const sum = sumExactly(rewards)
  // Only rewards near the end of all numbers add up to more than a number.
  return Number.isFinite(sum) ? sum / rewards.length : rewards.reduce((total, part) => total + part / rewards.length, 0)
}

/** What each addition rounds off is added at the end (Neumaier): training's own sum is exact, and so are its zeros. */
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
