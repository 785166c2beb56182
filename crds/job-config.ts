import { camelCase, mapKeys, snakeCase } from './case.ts'
import type { TrainingJob } from './generated.ts'

type SpecConfig = NonNullable<TrainingJob['spec']['config']>

/** A job's settings in wire names as a TrainingJob has them; `learning_rate` may be a list there, which a CRD cannot say. */
export function configToSpec(config: Record<string, unknown>): SpecConfig {
  const { learning_rate: rate, ...rest } = config
  if (Array.isArray(rate)) return { ...mapKeys(rest, camelCase), learningRates: rate as number[] }
  return mapKeys(config, camelCase)
}

/** The other way round. */
export function configFromSpec({ learningRates, ...config }: SpecConfig): Record<string, unknown> {
  return { ...mapKeys(config, snakeCase), ...(learningRates && { learning_rate: learningRates }) }
}
