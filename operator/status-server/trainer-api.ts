import type { Router } from '@koa/router'
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
  closedQueries: false,
}

export function createTrainerApi(router: Router<TrainerState>): TrainerApi {
  return new Api(router, dialect)
}
