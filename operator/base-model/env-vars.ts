import type { EnvVar } from './pod-artifacts.ts'

/** Adds the admin's variables to ours. They replace ours of the same name. */
export function mergeEnv(ours: EnvVar[], added: EnvVar[] = []): EnvVar[] {
  const replaced = new Set(added.map(({ name }) => name))
  return [...ours.filter(({ name }) => !replaced.has(name)), ...added]
}

export function optionalEnv(name: string, value: string | number | boolean | undefined): EnvVar[] {
  return value === undefined ? [] : [{ name, value: String(value) }]
}
