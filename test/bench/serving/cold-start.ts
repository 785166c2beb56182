import path from 'node:path'
import { findFreePort } from '../../support/free-port.ts'
import type { StackHandle } from '../../support/global-setup.ts'
import type { Rest } from '../../support/rest.ts'
import { startByHand } from './by-hand.ts'
import { scaleEngines, waitForEngines } from './engines.ts'
import type { TrainedModel } from './publish.ts'

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
  await scaleEngines(stack, 0)
  await waitForEngines(stack, 0)
  const port = await findFreePort()
  const startedMs = performance.now()
  const vllm = await startByHand(port, path.join(stack.artifacts, 'checkpoints', checkpointId))
  try {
    await vllm.waitForAnswer()
    return performance.now() - startedMs
  } finally {
    await vllm.stop()
  }
}
