import path from 'node:path'
import { childEnvironment, readLocalConfig } from '../../local/config.ts'
import { installTrainerEnvironment } from '../../local/install/python-environment.ts'
import { runChild } from '../../local/install/run-child.ts'
import { UserError } from '../../local/user-error.ts'
import { Board } from '../../local/terminal/board.ts'
import { listGpus } from '../support/gpu.ts'
import { round, type BenchResult } from './result.ts'

/** Measures the trainer's steps on a GPU, on models of 0.6B and 4B shape, beside the figures of other trainers. */
export async function benchTrainerGpu(): Promise<BenchResult> {
  const gpus = listGpus()
  if (gpus.length === 0)
    throw new UserError('npm run bench -- trainer-gpu needs an NVIDIA GPU, and nvidia-smi finds none on this machine.')
  process.stderr.write(`${gpus.join('\n')}\n`)
  const config = { ...readLocalConfig(), accelerator: 'cuda' as const }
  const { signal } = new AbortController()
  const { python } = await installTrainerEnvironment({ config, board: new Board(), signal })
  const { code, stdout, tail } = await runChild(python, ['-m', 'bench.gpu'], {
    cwd: path.join(config.repository, 'trainer'),
    env: childEnvironment({ HF_HUB_OFFLINE: '1' }),
    onLine: (line) => process.stderr.write(`${line}\n`),
  })
  if (code !== 0) throw new UserError(tail)
  // The trainer's log precedes the last line.
  const { ratios, figures } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as BenchResult
  return { ratios: roundAll(ratios), figures: roundAll(figures) }
}

function roundAll(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, round(value)]))
}
