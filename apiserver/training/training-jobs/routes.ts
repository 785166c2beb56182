import type { Deps } from '../../deps.ts'
import type { Api } from '../../http/api.ts'
import { readBody } from '../../middleware/body.ts'
import { listOf, pageQuery, presentPage } from '../list.ts'
import { parseRequest } from './parse-large.ts'
import { presentEvent, presentTrainingJob } from './present.ts'
import { eventSchema, trainingJobCreateSchema, trainingJobIdSchema, trainingJobSchema } from './schema.ts'
import { createTrainingJob, getTrainingJob, listJobEvents } from './service.ts'

const tag = 'Training jobs'

export function routeTrainingJobs(api: Api, deps: Deps): void {
  api.post(
    '/v1/preview/training-jobs',
    {
      tag,
      summary: 'Train a model on trajectories with their rewards (RL)',
      streamedBody: { 'application/json': trainingJobCreateSchema },
      answer: trainingJobIdSchema,
    },
    async ({ ctx, caller }) => {
      const request = await parseRequest(await readBody(ctx, deps.config.TRAINYARD_BODY_LIMIT_BYTES))
      return { id: await createTrainingJob(deps, caller, request) }
    },
  )

  api.get(
    '/v1/preview/training-jobs/{training_job_id}',
    { tag, summary: 'Read a training job', answer: trainingJobSchema },
    async ({ caller, params }) =>
      presentTrainingJob(await getTrainingJob(deps, caller.entity, params['training_job_id']!)),
  )

  api.get(
    '/v1/preview/training-jobs/{training_job_id}/events',
    { tag, summary: "List a training job's events", query: pageQuery, answer: listOf(eventSchema) },
    async ({ caller, params, query }) => {
      const rows = await listJobEvents(deps, caller.entity, params['training_job_id']!, query)
      return presentPage(rows, query.limit, presentEvent)
    },
  )
}
