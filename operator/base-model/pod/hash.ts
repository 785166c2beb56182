import { createHash } from 'node:crypto'

/** A short hash of a value, for a label. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 10)
}
