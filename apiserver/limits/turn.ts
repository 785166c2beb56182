import type { PermitRequest } from '../../lib/fair-semaphore.ts'
import type { RequestContext } from '../middleware/context.ts'

/** Whose turn it is where entities wait for the same. */
export type Turn = Required<Pick<PermitRequest, 'key' | 'weight'>>

/** The turn of a request's entity. */
export function turnOf({ state }: RequestContext): Turn {
  return { key: state.caller.entity, weight: state.limits.weight }
}
