import type Koa from 'koa'
import type { RequestLimitName } from '../../db/accounts/api-keys.ts'
import type { EntityLimits } from '../../db/accounts/limits.ts'

/** What a key may do: look, work, or also manage keys, limits and erasure. */
export type Role = 'read' | 'member' | 'admin'

/** Who asks: the key, the team that it belongs to and its weight where teams wait for the same, and what the key may do. */
export interface Caller {
  keyId: string
  entity: string
  role: Role
  weight: number
}

/** What the middleware has found out about a request. */
export interface RequestState {
  caller: Caller
  /** Of the caller's entity. */
  limits: Omit<Pick<EntityLimits, RequestLimitName>, 'weight'>
}

export type RequestContext = Koa.ParameterizedContext<RequestState>
