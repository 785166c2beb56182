import type { Router } from '@koa/router'
import type { Deps } from '../../deps.ts'
import type { JsonDocument } from '../../json/document.ts'
import { readJson } from '../../middleware/body.ts'
import type { RequestState } from '../../middleware/context.ts'
import { compileQuery } from '../../validation/compile.ts'
import { pageQuery, presentPage } from '../list.ts'
import { presentEvent, presentTrainingJob } from './present.ts'
import { parseTrainingJobCreate, pickGivenConfig } from './schema.ts'
import { createTrainingJob, getTrainingJob, listJobEvents, type TrainingJobRequest } from './service.ts'

const parseEventsQuery = compileQuery(pageQuery)

export function routeTrainingJobs(router: Router<RequestState>, deps: Deps): void {
  router.post('/v1/preview/training-jobs', async (ctx) => {
    const request = readRequest(await readJson(ctx, deps.config.TRAINYARD_BODY_LIMIT_BYTES))
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

/** The payload keeps the trajectories' exact bytes: numbers lose nothing, and equal bodies are stored once. */
function readRequest(document: JsonDocument): TrainingJobRequest {
  const { model_id, experimental_config } = parseTrainingJobCreate(document)
  const groups = document.member('trajectory_groups')!
  const payload = Buffer.concat([Buffer.from('{"trajectory_groups":'), groups, Buffer.from('}')])
  return { modelId: model_id, payload, config: pickGivenConfig(experimental_config) }
}
