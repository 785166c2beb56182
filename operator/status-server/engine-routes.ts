import type { Router } from '@koa/router'
import { Type } from 'typebox'
import { listWantedAdapters } from '../../db/engines/wanted-adapters.ts'
import type { Pool } from '../../db/pool.ts'
import { openPodRoutes, type AuthenticatePod, type TrainerState } from './trainer-api.ts'

/** What the engine routes need. `authenticateEngine` throws an HttpError for every caller except an engine pod. */
export interface EngineRouteDeps {
  pool: Pool
  authenticateEngine: AuthenticatePod
}

// The maximum of spec.engine.maxCpuLoras.
const maxAdapters = 10_000

const wantedQuery = Type.Object({
  base_model: Type.String({ minLength: 1, maxLength: 200 }),
  limit: Type.Integer({ minimum: 1, maximum: maxAdapters }),
})

/** The route of engines. It requires an engine pod's token. */
export function createEngineRoutes({ pool, authenticateEngine }: EngineRouteDeps): Router<TrainerState> {
  const path = '/v1/wanted-adapters'
  const { router, api } = openPodRoutes(authenticateEngine, path)
  api.get(
    path,
    {
      tag: 'Engines',
      summary: 'List the checkpoints that an engine should have loaded, by importance',
      query: wantedQuery,
    },
    async ({ query }) => {
      const { kept, inUse } = await listWantedAdapters(pool, query.base_model, query.limit)
      return { ids: [...kept, ...inUse] }
    },
  )
  return router
}
