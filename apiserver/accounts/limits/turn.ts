import type { Turn } from '../../../lib/fair-semaphore.ts'
import type { Caller } from '../context.ts'

export type { Turn }

/** The turn of a caller's entity. */
export function turnOf({ entity, weight }: Pick<Caller, 'entity' | 'weight'>): Turn {
  return { key: entity, weight }
}
