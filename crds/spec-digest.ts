import { createHash } from 'node:crypto'
import { isObject } from '../lib/json/is-object.ts'
import type { TrainingJob } from './generated.ts'

type TrainedOn = Pick<TrainingJob['spec'], 'modelRef' | 'method' | 'inputRef' | 'config'>

/**
 * The SHA-256, in hex, of what a TrainingJob trains on: model, method, input and config. An empty config equals none.
 * It identifies a job that is applied again, whatever else its resource contains.
 */
export function specDigest(spec: TrainedOn): string {
  const { modelRef, method, inputRef, config = {} } = spec
  return createHash('sha256').update(canonicalJson({ modelRef, method, inputRef, config })).digest('hex')
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (isObject(part) ? sortKeys(part) : part))
}

function sortKeys(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}
