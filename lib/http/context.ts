import type Koa from 'koa'

/** A request with its response, as this kit reads and writes them; what a group of operations has found out is its state. */
export type HttpContext<State = Koa.DefaultState> = Koa.ParameterizedContext<State>
