const barWidth = 30

/** One line of the table: step, mean reward with a bar, loss, seconds, and one sampled answer. */
export function formatStep(row: {
  step: number
  reward: number
  loss?: number
  seconds: number
  sample: string
}): string {
  const filled = Math.round(row.reward * barWidth)
  const bar = '█'.repeat(filled) + '·'.repeat(barWidth - filled)
  const loss = row.loss === undefined ? '      –' : row.loss.toFixed(3).padStart(7)
  const sample = row.sample.replaceAll(/\s+/g, ' ').slice(0, 34)
  return `${String(row.step).padStart(4)}  ${row.reward.toFixed(3)}  ${bar}  ${loss}  ${row.seconds.toFixed(1).padStart(5)}  ${sample}`
}

export const tableHead = `step  reward${' '.repeat(barWidth + 4)}loss    sec  an answer`

/** A small plot of rewards (0 to 1) over steps, as lines of text, the highest first. */
export function plotRewards(rewards: readonly number[], height = 8): string[] {
  const rows = Array.from({ length: height }, (_, index) => height - index)
  const lines = rows.map((row) => {
    const label = row === height ? '1.0' : row === 1 ? '0.0' : '   '
    const points = rewards.map((reward) => (levelOf(reward, height) === row ? ' ● ' : '   '))
    return `  ${label} │${points.join('')}`
  })
  const steps = rewards.map((_, step) => String(step).padStart(2).padEnd(3))
  return [...lines, `      └${'───'.repeat(rewards.length)}`, `       ${steps.join('')} step`]
}

function levelOf(reward: number, height: number): number {
  return Math.max(1, Math.min(height, Math.round(reward * (height - 1)) + 1))
}
