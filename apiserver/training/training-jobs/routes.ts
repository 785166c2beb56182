import { Type } from 'typebox'
import type { RestApi } from '../../accounts/rest-api.ts'
import { bodySchemas } from '../ingest/shapes.ts'
import { receiveTrajectories, type ReceiveDeps } from '../ingest/receive.ts'
import { countedListOf, presentPage, withTotal } from '../../../lib/http/page.ts'
import { routeJobEvents, type EventStreamDeps } from './events/routes.ts'
import { cancelTrainingJob, createRlJob, getJobDetail, listTrainingJobs, type RlJobDeps } from './service.ts'
import { retryTrainingJob } from './retry.ts'
import { suspendTrainingJob } from './suspend.ts'
import { routeJobLogs } from './logs/routes.ts'
import { presentJobDetail, presentTrainingJob } from './present.ts'
import { jobListQuery, trainingJobIdSchema, trainingJobDetailSchema, trainingJobSchema } from './schema.ts'

/** What the routes of training jobs need. */
export interface TrainingJobDeps extends RlJobDeps, ReceiveDeps, EventStreamDeps {}

const tag = 'Training jobs'

export function routeTrainingJobs(api: RestApi, deps: TrainingJobDeps): void {
  api.post(
    '/v1/preview/training-jobs',
    {
      tag,
      summary: 'Train a model on trajectories with their rewards (RL)',
      description: 'Send `model_id` first: a missing model is then a 404 at once, before the rest of the body arrives.',
      idempotent: 'handler',
      idParameter: 'training_job_id',
      cost: { permit: 'uploads' },
      streamedBody: { 'application/json': bodySchemas.job },
      answer: trainingJobIdSchema,
    },
    (request) => receiveTrajectories(deps, request, 'job', (body) => createRlJob(deps, request, body)),
  )

  api.get(
    '/v1/preview/training-jobs/{training_job_id}',
    { tag, summary: 'Get a training job', answer: trainingJobDetailSchema },
    async ({ caller, params }) => presentJobDetail(await getJobDetail(deps, caller.entity, params.training_job_id)),
  )

  api.get(
    '/v1/preview/training-jobs',
    {
      tag,
      summary: 'List training jobs in order of arrival',
      query: jobListQuery,
      answer: countedListOf(trainingJobSchema),
      errorStatuses: [404, 409],
    },
    async ({ caller, query }) => {
      const { rows, total } = await listTrainingJobs(deps, caller.entity, query)
      return withTotal(presentPage(rows, query.limit, presentTrainingJob), total)
    },
  )

  api.post(
    '/v1/preview/training-jobs/{training_job_id}/cancel',
    {
      tag,
      summary: 'Cancel a training job that is not trained yet',
      description:
        'It ends at once, with `training_failed` ("cancelled") and no new step. Cancelling it again succeeds.',
      body: Type.Unknown(),
      bodyOptional: true,
      answer: trainingJobSchema,
    },
    async ({ caller, params }) =>
      presentTrainingJob(await cancelTrainingJob(deps, caller.entity, params.training_job_id)),
  )

  api.post(
    '/v1/preview/training-jobs/{training_job_id}/retry',
    {
      tag,
      summary: 'Train again on the data of a training job that has ended',
      description:
        'Creates a job with the same data and settings, which begins from the newest checkpoint of the model. Its ' +
        '`retry_of` is the id of the old one. A job that has not ended, or whose data are gone, is a 409.',
      idempotent: true,
      body: Type.Unknown(),
      bodyOptional: true,
      answer: trainingJobSchema,
      errorStatuses: [409],
    },
    async (request) => presentTrainingJob(await retryTrainingJob(deps, request, request.params.training_job_id)),
  )

  for (const [operation, suspend] of [
    ['suspend', true],
    ['resume', false],
  ] as const) {
    api.post(
      `/v1/preview/training-jobs/{training_job_id}/${operation}`,
      {
        tag,
        summary: suspend ? 'Suspend a training job that has pods of its own' : 'Resume a suspended training job',
        description: suspend
          ? 'Its pods save their progress and go. Its state is `Suspending` until they are gone, and then `Suspended`. ' +
            'A job with the mode `Warm` is a 422.'
          : 'It gets pods again, and continues after its last save. Resuming a job that is not suspended succeeds.',
        body: Type.Unknown(),
        bodyOptional: true,
        answer: trainingJobSchema,
      },
      async ({ caller, params }) =>
        presentTrainingJob(await suspendTrainingJob(deps, caller.entity, { id: params.training_job_id, suspend })),
    )
  }

  routeJobEvents(api, deps)
  routeJobLogs(api, deps)
}
