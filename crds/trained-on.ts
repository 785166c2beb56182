import type { BaseModel } from './generated.ts'

/** The parts of a BaseModel's spec that checkpoints depend on. */
export interface TrainedOn {
  source: Record<string, unknown>
  lora: NonNullable<BaseModel['spec']['lora']>
}

// How the weights are read changes nothing in them.
const accessFields: ReadonlySet<string> = new Set(['trustRemoteCode', 'secretRef'])

/** What the checkpoints of a base model depend on. A BaseModel that has its name later needs the same. */
export function describeTrainedOn({ source, lora = {} }: BaseModel['spec']): TrainedOn {
  const weights = Object.entries(source).filter(([field]) => !accessFields.has(field))
  return { source: Object.fromEntries(weights), lora }
}
