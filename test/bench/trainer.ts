import { ensurePeersPython } from '../support/client-python.ts'
import { measureLatency, startContestant, type Contestant, type Round } from './contestant.ts'
import { median, round, type BenchResult } from './result.ts'

const rounds = 5
// The maximum difference of a loss. Sums of float32 in another order differ by less.
const maxDifference = 1e-4

/** The comparisons, with the names of trainer/bench/__main__.py: which side should be faster than which. */
const comparisons: Record<string, [string, string]> = {
  packed_vs_padded: ['packed', 'padded'],
  ours_vs_trl_sft: ['packed', 'trl_sft'],
  ours_vs_trl_sft_even: ['even', 'trl_even'],
  ours_vs_trl_grpo: ['rl', 'trl_grpo'],
  cobatch_vs_serial: ['together', 'serial'],
  packed_vs_sorted: ['packed', 'sorted'],
}

/**
 * Measures the trainer on a CPU: beside itself without packing, beside TRL, and with jobs of four models together. Also
 * measures how long a job waits for its first step. Both sides of a comparison alternate, so that other load of the
 * machine affects both. The benchmark fails if the two sides compute different results.
 */
export async function benchTrainer(): Promise<BenchResult> {
  const python = await ensurePeersPython()
  const result: BenchResult = { ratios: {}, figures: {} }
  for (const [name, sides] of Object.entries(comparisons)) await compare(python, name, sides, result)
  for (const [name, valuesMs] of Object.entries(await measureLatency(python))) {
    result.figures[`${name}_p50`] = round(median(valuesMs))
    result.figures[`${name}_max`] = round(Math.max(...valuesMs))
  }
  return result
}

async function compare(python: string, name: string, sides: [string, string], result: BenchResult): Promise<void> {
  const contestants: Contestant[] = []
  try {
    for (const side of sides) contestants.push(await startContestant(python, side))
    const found: Round[][] = sides.map(() => [])
    for (let index = 0; index < rounds; index++) {
      for (const [place, contestant] of contestants.entries()) found[place]!.push(await contestant.runRound())
      const speeds = found.map((each) => round(each.at(-1)!.tokens / each.at(-1)!.seconds))
      process.stderr.write(`${name}, round ${index + 1} of ${rounds}: ${speeds.join(' and ')} tokens/s\n`)
    }
    const [ours, other] = found as [Round[], Round[]]
    requireSameLosses(name, ours[0]!, other[0]!)
    result.ratios[name] = round(median(ours.map((each, index) => other[index]!.seconds / each.seconds)))
    result.figures[`${name}_cpu_ratio`] = round(
      median(ours.map((each, index) => other[index]!.cpu_seconds / each.cpu_seconds)),
    )
    for (const [place, side] of sides.entries()) {
      Object.assign(result.figures, describe(`${name}_${side}`, found[place]!, contestants[place]!.idleBytes))
    }
  } finally {
    await Promise.all(contestants.map((contestant) => contestant.stop()))
  }
}

function describe(name: string, found: Round[], idleBytes: number): Record<string, number> {
  const speeds = found.map(({ tokens, seconds }) => tokens / seconds)
  const peakBytes = Math.max(...found.map((each) => each.peak_bytes))
  return {
    [`${name}_tokens_per_s`]: round(median(speeds)),
    [`${name}_tokens_per_s_spread`]: round(Math.max(...speeds) - Math.min(...speeds)),
    [`${name}_tokens_per_cpu_s`]: round(median(found.map(({ tokens, cpu_seconds }) => tokens / cpu_seconds))),
    [`${name}_training_mb`]: round((peakBytes - idleBytes) / 1e6),
  }
}

function requireSameLosses(name: string, ours: Round, other: Round): void {
  const pairs = ours.losses.map((loss, index) => [loss, other.losses[index] ?? NaN] as const)
  const same = pairs.every(([one, two]) => Math.abs(one - two) <= maxDifference * Math.max(1, Math.abs(two)))
  if (!same || ours.losses.length !== other.losses.length || ours.tokens !== other.tokens) {
    throw new Error(`${name} compares different computations: losses ${JSON.stringify(pairs)}`)
  }
}
