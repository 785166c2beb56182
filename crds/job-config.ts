import { camelCase, snakeCase } from './case.ts'
import type { TrainingJob } from './generated.ts'

type SpecConfig = NonNullable<TrainingJob['spec']['config']>

/** The property for a list of numbers if a setting can be a number or a list: `learningRates`. */
export function nameListProperty(setting: string): string {
  return `${camelCase(setting)}s`
}

/** Converts a job's settings from wire names to the form of a TrainingJob, also the members of a setting. */
export function configToSpec(config: Record<string, unknown>): SpecConfig {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      Array.isArray(value) ? nameListProperty(name) : camelCase(name),
      convertMembers(value, camelCase),
    ]),
  )
}

/** Converts the settings of a TrainingJob to wire names. */
export function configFromSpec(config: SpecConfig): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      snakeCase(Array.isArray(value) ? name.replace(/s$/, '') : name),
      convertMembers(value, snakeCase),
    ]),
  )
}

function convertMembers(value: unknown, convert: (name: string) => string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [convert(name), member]))
}
