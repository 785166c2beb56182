import type { EnvVar } from './pod-artifacts.ts'

/** The admin's variables are added to ours, and replace those of the same name. */
export function mergeEnv(ours: EnvVar[], added: EnvVar[] = []): EnvVar[] {
  const replaced = new Set(added.map(({ name }) => name))
  return [...ours.filter(({ name }) => !replaced.has(name)), ...added]
}

export function optionalEnv(name: string, value: string | number | boolean | undefined): EnvVar[] {
  return value === undefined ? [] : [{ name, value: String(value) }]
}
