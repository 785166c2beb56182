import type Koa from 'koa'

/** What the middleware has found out about a request. */
export interface RequestState {
  /** The team that the request's key belongs to. */
  entity: string
}

export type RequestContext = Koa.ParameterizedContext<RequestState>
