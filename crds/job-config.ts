import { camelCase, snakeCase } from './case.ts'
import type { TrainingJob } from './generated.ts'

type SpecConfig = NonNullable<TrainingJob['spec']['config']>

/** The property that has a list of numbers where a setting may be a number or a list: `learningRates`. */
export function nameListProperty(setting: string): string {
  return `${camelCase(setting)}s`
}

/** A job's settings in wire names as a TrainingJob has them. */
export function configToSpec(config: Record<string, unknown>): SpecConfig {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      Array.isArray(value) ? nameListProperty(name) : camelCase(name),
      value,
    ]),
  )
}

/** The other way round. */
export function configFromSpec(config: SpecConfig): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      snakeCase(Array.isArray(value) ? name.replace(/s$/, '') : name),
      value,
    ]),
  )
}
