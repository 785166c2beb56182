import type { Router } from '@koa/router'
import type Koa from 'koa'
import type { HttpMeter, RouteLabels } from './http-meter.ts'

/** A declared route. */
export interface KnownRoute {
  method: string
  /** As the router or an operation has it. */
  path: string
}

interface MeasureOptions {
  meter: HttpMeter
  /** The group of a path, one of a few. */
  groupOf: (path: string) => string
  /** Read at the first request: routes are declared after the middleware is added. */
  list: () => Iterable<KnownRoute>
}

/** Lists the routes of a router. */
export function listRoutes({ stack }: Pick<Router, 'stack'>): KnownRoute[] {
  return stack.flatMap(({ methods, path }) =>
    typeof path === 'string' ? methods.map((method) => ({ method, path })) : [],
  )
}

/** The label of paths and methods that are not declared. Clients can request any of them. */
const unknown = 'unknown'

/** Counts each request under its route when its answer is complete or its client has left. */
export function measureRequests({ meter, groupOf, list }: MeasureOptions): Koa.Middleware {
  let known: ReadonlySet<string> | undefined
  return (ctx, next) => {
    known ??= new Set([...list()].map(nameRoute))
    const routes = known
    const startMs = performance.now()
    const group = groupOf(ctx.path)
    const inFlight = meter.inFlightOf(group)
    inFlight.count++
    ctx.res.once('close', () => {
      inFlight.count--
      meter.routeOf({ group, ...findRoute(ctx, routes) }).recordAnswer(ctx.res, startMs)
    })
    return next()
  }
}

function findRoute(ctx: Koa.Context, routes: ReadonlySet<string>): Omit<RouteLabels, 'group'> {
  const matched: unknown = ctx['_matchedRoute']
  // The router answers HEAD as GET.
  const method = ctx.method === 'HEAD' ? 'GET' : ctx.method
  const route = typeof matched === 'string' ? toTemplate(matched) : unknown
  return routes.has(nameRoute({ method, path: route })) ? { method, route } : { method: unknown, route: unknown }
}

function nameRoute({ method, path }: KnownRoute): string {
  return `${method.toUpperCase()} ${toTemplate(path)}`
}

/** Converts `/models/:id` of the router, and `/models/{id*}` of an operation, to `/models/{id}`. */
function toTemplate(path: string): string {
  return path.replaceAll(/\{(\w+)\*\}/g, '{$1}').replaceAll(/[:*](\w+)/g, '{$1}')
}
