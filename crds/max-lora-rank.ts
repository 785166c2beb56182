import type { BaseModel } from './generated.ts'

const minLoraRank = 16

/** The maximum rank of the adapters of a base model. Engines round it up to one that vLLM supports. */
export function readMaxLoraRank({ engine = {}, lora = {} }: Pick<BaseModel['spec'], 'engine' | 'lora'>): number {
  return engine.maxLoraRank ?? Math.max(minLoraRank, lora.rank ?? 0)
}
