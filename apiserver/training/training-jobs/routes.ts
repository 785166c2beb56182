import type { Router } from '@koa/router'
import type { Deps } from '../../deps.ts'
import { readBody } from '../../middleware/body.ts'
import type { RequestState } from '../../middleware/context.ts'
import { compileQuery } from '../../validation/compile.ts'
import { pageQuery, presentPage } from '../list.ts'
import { presentEvent, presentTrainingJob } from './present.ts'
import { parseRequest } from './parse-large.ts'
import { createTrainingJob, getTrainingJob, listJobEvents } from './service.ts'

const parseEventsQuery = compileQuery(pageQuery)

export function routeTrainingJobs(router: Router<RequestState>, deps: Deps): void {
  router.post('/v1/preview/training-jobs', async (ctx) => {
    const request = await parseRequest(await readBody(ctx, deps.config.TRAINYARD_BODY_LIMIT_BYTES))
    ctx.body = { id: await createTrainingJob(deps, ctx.state.entity, request) }
  })

  router.get('/v1/preview/training-jobs/:id', async (ctx) => {
    ctx.body = presentTrainingJob(await getTrainingJob(deps, ctx.state.entity, ctx.params['id']!))
  })

  router.get('/v1/preview/training-jobs/:id/events', async (ctx) => {
    const query = parseEventsQuery(ctx.query)
    const rows = await listJobEvents(deps, ctx.state.entity, ctx.params['id']!, query)
    ctx.body = presentPage(rows, query.limit, presentEvent)
  })
}
