import { readLocalConfig } from '../local/config.ts'
import { installTrainerEnvironment } from '../local/install/python-environment.ts'
import { Board } from '../local/terminal/board.ts'
import { listGpus } from './support/gpu.ts'
import type { Outcome } from './support/reports.ts'
import { runPytest, runSuites, runVitest, type SuiteContext } from './support/suites.ts'

const env = { TRAINYARD_ACCELERATOR: 'cuda' }

/** Tests that need a GPU: the trainer's kernels, its memory, and whole jobs in bfloat16. */
async function runTrainer(suite: SuiteContext): Promise<Outcome> {
  const config = { ...readLocalConfig(), accelerator: 'cuda' as const }
  const { signal } = new AbortController()
  const { python } = await installTrainerEnvironment({ config, board: new Board(), signal })
  return runPytest(suite, { python, env, paths: ['gpu'] })
}

/** Chats with vLLM and trains on the answers, on a stack of its own whose engine and trainer share the GPU. */
function runMainJob(suite: SuiteContext): Promise<Outcome> {
  return runVitest(suite, { project: 'engine', files: ['test/engine/main-job.test.ts'], env })
}

const gpus = listGpus()
if (gpus.length > 0) {
  console.log(gpus.join('\n'))
  await runSuites([
    [
      { name: 'trainer', run: runTrainer },
      { name: 'main-job', run: runMainJob },
    ],
  ])
} else {
  console.error('npm run test:gpu needs an NVIDIA GPU with its driver, and nvidia-smi finds none on this machine.')
  process.exitCode = 1
}
