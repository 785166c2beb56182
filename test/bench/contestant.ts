import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { keepLog } from '../support/child-program.ts'

const trainer = path.join(import.meta.dirname, '..', '..', 'trainer')

/**
 * The report of trainer/bench/contestant.py. The tokens are those of the examples, not all tokens that are computed.
 */
export interface Round {
  seconds: number
  cpu_seconds: number
  tokens: number
  losses: number[]
  peak_bytes: number
}

export interface Contestant {
  /** The memory of the process with its model loaded, before any training. */
  idleBytes: number
  runRound: () => Promise<Round>
  stop: () => Promise<void>
}

/** Starts a process that computes one round, and repeats it on request. */
export async function startContestant(python: string, name: string): Promise<Contestant> {
  const child = startBench(python, name)
  const ended = once(child, 'exit')
  const readLog = keepLog(child)
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const read = async (): Promise<unknown> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the contestant ${name} ended: ${readLog()}`)
    return JSON.parse(value)
  }
  const { idle_bytes: idleBytes } = (await read()) as { idle_bytes: number }
  return {
    idleBytes,
    runRound: async () => {
      child.stdin!.write('\n')
      return (await read()) as Round
    },
    stop: async () => {
      child.stdin!.end()
      await ended
    },
  }
}

/** Latencies in milliseconds by measurement, one for each job. */
export async function measureLatency(python: string): Promise<Record<string, number[]>> {
  const child = startBench(python, 'latency')
  const readLog = keepLog(child)
  const closed = once(child, 'close')
  const chunks: Buffer[] = await child.stdout!.toArray()
  const [code] = (await closed) as [number | null]
  if (code !== 0) throw new Error(`the measuring of latency failed: ${readLog()}`)
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, number[]>
}

/** Starts it with one thread and without network access. */
function startBench(python: string, name: string): ChildProcess {
  const env = { ...process.env, OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1', PYTHONWARNINGS: 'ignore' }
  return spawn(python, ['-m', 'bench', name], { cwd: trainer, env, stdio: 'pipe' })
}
