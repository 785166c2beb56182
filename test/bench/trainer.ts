import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { keepLog } from '../support/child-program.ts'
import { ensurePeersPython } from '../support/client-python.ts'
import { atLeast, atMost, defineBench, medians, ratioOf, takeTurns, type Figures } from './harness.ts'
import { median } from './statistics.ts'

const trainer = path.join(import.meta.dirname, '..', '..', 'trainer')
// The maximum difference of a loss. Sums of float32 in another order differ by less.
const maxDifference = 1e-4

/** The comparisons, with the names of trainer/bench/__main__.py: which side should be faster than which. */
const comparisons: Record<string, [string, string]> = {
  packed_vs_padded: ['packed', 'padded'],
  ours_vs_trl_sft: ['packed', 'trl_sft'],
  ours_vs_trl_grpo: ['rl', 'trl_grpo'],
  cobatch_vs_serial: ['together', 'serial'],
}

/**
 * The trainer on a CPU: beside itself without packing, beside TRL, and with jobs of four models together; and how long a
 * job waits for its first step. It fails if the two sides of a comparison compute different results.
 */
export const trainerBench = defineBench({
  counts: { rounds: 5 },
  parts: [...Object.keys(comparisons), 'latency'],
  goals: {
    packed_vs_padded: atLeast(2.5),
    ours_vs_trl_sft: atLeast(1.2),
    ours_vs_trl_grpo: atLeast(1.2),
    cobatch_vs_serial: atLeast(1.3),
    sft_claim_to_training_started_ms_p50: atMost(25),
    sft_claim_to_gradient_step_ms_p50: atMost(100),
    rl_claim_to_training_started_ms_p50: atMost(25),
    rl_claim_to_gradient_step_ms_p50: atMost(100),
  },
  measure: async ({ counts, parts }) => {
    const python = await ensurePeersPython()
    const figures: Figures = {}
    for (const name of parts) {
      Object.assign(
        figures,
        name === 'latency' ? await measureLatency(python) : await compare(python, name, counts.rounds),
      )
    }
    return figures
  },
})

async function compare(python: string, name: string, rounds: number): Promise<Figures> {
  const [ours, other] = comparisons[name]!
  const sides = [startSide(python, ours), startSide(python, other)] as const
  try {
    const measured = await takeTurns(rounds, { ours: sides[0].runRound, other: sides[1].runRound })
    requireSameLosses(name, sides[0].losses, sides[1].losses)
    return {
      [name]: ratioOf(measured.ours, measured.other, 'tokens_per_s'),
      ...medians(measured.ours, `${name}_${ours}_`),
      ...medians(measured.other, `${name}_${other}_`),
    }
  } finally {
    await Promise.all(sides.map((side) => side.stop()))
  }
}

/** A process that computes one round, and repeats it on request. */
interface Side {
  losses: number[]
  runRound: () => Promise<Figures>
  stop: () => Promise<void>
}

function startSide(python: string, name: string): Side {
  const child = startBench(python, name)
  const ended = once(child, 'exit')
  const readLog = keepLog(child)
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const side: Side = {
    losses: [],
    runRound: async () => {
      child.stdin!.write('\n')
      const { value, done } = await lines.next()
      if (done) throw new Error(`the contestant ${name} ended: ${readLog()}`)
      const { losses, tokens, seconds } = JSON.parse(value) as { losses: number[]; tokens: number; seconds: number }
      side.losses = losses
      return { tokens_per_s: tokens / seconds }
    },
    stop: async () => {
      child.stdin!.end()
      await ended
    },
  }
  return side
}

/** How long a job waits, p50 and highest. */
async function measureLatency(python: string): Promise<Figures> {
  const child = startBench(python, 'latency')
  const readLog = keepLog(child)
  const closed = once(child, 'close')
  const chunks: Buffer[] = await child.stdout!.toArray()
  const [code] = (await closed) as [number | null]
  if (code !== 0) throw new Error(`the measuring of latency failed: ${readLog()}`)
  const found = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, number[]>
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, valuesMs]) => [
      [`${name}_p50`, median(valuesMs)],
      [`${name}_max`, Math.max(...valuesMs)],
    ]),
  )
}

/** Starts it with one thread and without network access. */
function startBench(python: string, name: string): ChildProcess {
  const env = { ...process.env, OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1', PYTHONWARNINGS: 'ignore' }
  return spawn(python, ['-m', 'bench', name], { cwd: trainer, env, stdio: 'pipe' })
}

function requireSameLosses(name: string, ours: readonly number[], other: readonly number[]): void {
  const isSame = (loss: number, index: number) =>
    Math.abs(loss - (other[index] ?? NaN)) <= maxDifference * Math.max(1, Math.abs(loss))
  if (ours.length === other.length && ours.every(isSame)) return
  throw new Error(`${name} compares different computations: losses ${JSON.stringify([ours, other])}`)
}
