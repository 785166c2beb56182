import { Router, type RouterMiddleware } from '@koa/router'
import { Api, type Dialect } from '../../lib/http/api.ts'
import type { CallingPod } from './auth.ts'
import { readJson } from './body.ts'
import { compileSchema } from './schema.ts'

/** The trainer pod that sent a request. */
export interface TrainerState {
  caller: CallingPod
}

export type TrainerApi = Api<TrainerState, object>

const dialect: Dialect<TrainerState, object> = {
  // Every trainer pod may use every operation. The SQL statements check whether its attempt holds the job.
  authorize: () => {},
  compileBody: (schema, { bodyLimitBytes }) => {
    const parse = compileSchema(schema)
    return async (ctx) => {
      const { value, bytes } = await readJson(ctx, bodyLimitBytes)
      return { value: parse(value), bytes }
    }
  },
  admit: undefined,
  openAnswer: undefined,
  closedQueries: false,
}

/** Throws an HttpError for every caller that may not use the routes. */
export type AuthenticatePod = (header: string | undefined) => Promise<CallingPod>

/** Opens routes for the pods that `authenticate` accepts: all of the router, or those of one path. */
export function openPodRoutes(
  authenticate: AuthenticatePod,
  path?: string,
): { router: Router<TrainerState>; api: TrainerApi } {
  const router = new Router<TrainerState>()
  const authenticateCaller: RouterMiddleware<TrainerState> = async (ctx, next) => {
    ctx.state.caller = await authenticate(ctx.get('authorization'))
    await next()
  }
  if (path === undefined) router.use(authenticateCaller)
  else router.use(path, authenticateCaller)
  return { router, api: new Api(router, dialect) }
}
