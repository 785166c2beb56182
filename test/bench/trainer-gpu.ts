import path from 'node:path'
import { childEnvironment, readLocalConfig } from '../../local/config.ts'
import { installTrainerEnvironment } from '../../local/install/python-environment.ts'
import { runChild } from '../../local/install/run-child.ts'
import { UserError } from '../../local/user-error.ts'
import { Board } from '../../local/terminal/board.ts'
import { listGpus } from '../support/gpu.ts'
import { atLeast, defineBench, type Figures } from './harness.ts'

/** The trainer's steps on a GPU, on a model of the shape of Qwen3-4B, beside the figures of other trainers. */
export const trainerGpu = defineBench({
  counts: {},
  goals: { sft_tokens_per_second: atLeast(8500), sft_mfu_percent: atLeast(29) },
  measure: async () => {
    const gpus = listGpus()
    if (gpus.length === 0)
      throw new UserError('trainer-gpu needs an NVIDIA GPU, and nvidia-smi finds none on this machine.')
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
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Figures
  },
})
