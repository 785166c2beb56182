import type { Router } from '@koa/router'
import type { Deps } from '../../deps.ts'
import { readJson } from '../../middleware/body.ts'
import type { RequestState } from '../../middleware/context.ts'
import { compileQuery } from '../../validation/compile.ts'
import { orderedPageQuery, presentPage } from '../list.ts'
import { presentCheckpoint, presentModel } from './present.ts'
import { parseModelCreate } from './schema.ts'
import { createModel, getModel, listModelCheckpoints } from './service.ts'

// Names and a flag.
const bodyLimitBytes = 64 * 1024

const parseCheckpointsQuery = compileQuery(orderedPageQuery)

export function routeModels(router: Router<RequestState>, deps: Deps): void {
  router.post('/v1/preview/models', async (ctx) => {
    const wanted = parseModelCreate(await readJson(ctx, bodyLimitBytes))
    ctx.body = presentModel(await createModel(deps, ctx.state.entity, wanted))
  })

  router.get('/v1/preview/models/:id', async (ctx) => {
    ctx.body = presentModel(await getModel(deps, ctx.state.entity, ctx.params['id']!))
  })

  router.get('/v1/preview/models/:id/checkpoints', async (ctx) => {
    const query = parseCheckpointsQuery(ctx.query)
    const rows = await listModelCheckpoints(deps, ctx.state.entity, ctx.params['id']!, query)
    ctx.body = presentPage(rows, query.limit, presentCheckpoint)
  })
}
