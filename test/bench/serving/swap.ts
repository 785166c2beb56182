import type { Rest } from '../../support/rest.ts'
import type { BenchEngine } from './engines.ts'
import type { TrainedModel } from './publish.ts'

/** The times of a chat whose adapter no engine has loaded, and of the next one. */
export interface Swap {
  coldMs: number
  loadedMs: number
}

/** Removes a model's adapter from all engines, and chats twice over the gateway. */
export async function measureSwap(
  rest: Rest,
  engines: readonly BenchEngine[],
  { address, checkpointId }: TrainedModel,
): Promise<Swap> {
  await Promise.all(engines.map((engine) => engine.unload(checkpointId)))
  const coldMs = await timeChat(rest, address)
  return { coldMs, loadedMs: await timeChat(rest, address) }
}

async function timeChat(rest: Rest, model: string): Promise<number> {
  const startMs = performance.now()
  await rest.sample(model, 'Tell me about the sea.', { max_completion_tokens: 16 })
  return performance.now() - startMs
}
