import { isObject } from '../../../lib/json/is-object.ts'
import type { EnvVar } from './artifacts.ts'

/**
 * Adds the admin's variables to ours. They replace ours of the same name, but for those from a Secret: the other side has
 * their value from there, and a BaseModel would show it.
 */
export function mergeEnv(ours: EnvVar[], added: EnvVar[] = []): EnvVar[] {
  const kept = new Set(ours.filter(({ valueFrom }) => isSecret(valueFrom)).map(({ name }) => name))
  const taken = added.filter(({ name }) => !kept.has(name))
  const replaced = new Set(taken.map(({ name }) => name))
  return [...ours.filter(({ name }) => !replaced.has(name)), ...taken]
}

function isSecret(source: unknown): boolean {
  return isObject(source) && 'secretKeyRef' in source
}

export function optionalEnv(name: string, value: string | number | boolean | undefined): EnvVar[] {
  return value === undefined ? [] : [{ name, value: String(value) }]
}
