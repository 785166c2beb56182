import type { PermitRequest } from '../../../lib/fair-semaphore.ts'
import type { Caller } from '../context.ts'

/** The key and weight of an entity where entities wait for the same resource. */
export type Turn = Required<Pick<PermitRequest, 'key' | 'weight'>>

/** The turn of a caller's entity. */
export function turnOf({ entity, weight }: Pick<Caller, 'entity' | 'weight'>): Turn {
  return { key: entity, weight }
}
