import type Koa from 'koa'

/** A request with its response. Its state has what a group of operations knows about it. */
export type HttpContext<State = Koa.DefaultState> = Koa.ParameterizedContext<State>
