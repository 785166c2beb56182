import type Koa from 'koa'
import type { RequestLimitName } from '../../db/accounts/api-keys.ts'
import type { EntityLimits } from '../../db/accounts/limits.ts'
import type { Turn } from '../../lib/fair-semaphore.ts'

/** What a key may do: read, change things, or also manage keys, limits and erasure. */
export type Role = 'read' | 'member' | 'admin'

/** The caller of a request: its key, the key's entity and role, and the entity's weight in shared queues. */
export interface Caller {
  keyId: string
  /** The browser's session, if the request has one instead of the key itself. */
  sessionId?: string
  entity: string
  role: Role
  weight: number
  /** The entity's limit for chats in all groups. */
  tokensPerMinute: number
  /** How many unfinished jobs the entity may have. */
  queuedJobs: number
  /** The project that records the key's chats; null for none. */
  traceProject: string | null
}

/** What the middleware knows about a request. */
export interface RequestState {
  caller: Caller
  /** The limits of the caller's entity. */
  limits: Omit<Pick<EntityLimits, RequestLimitName>, 'weight' | 'tokensPerMinute' | 'queuedJobs'>
}

/** The turn of a caller's entity, where entities wait for the same thing. */
export function turnOf({ entity, weight }: Pick<Caller, 'entity' | 'weight'>): Turn {
  return { key: entity, weight }
}

export type RequestContext = Koa.ParameterizedContext<RequestState>
