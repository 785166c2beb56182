import type { RestApi } from '../../accounts/rest-api.ts'
import { isRowsMethod, methodNames, methods } from '../../../crds/methods.ts'
import { describeRowsRequest } from '../settings/request.ts'
import { trainingJobIdSchema } from '../training-jobs/schema.ts'
import { createRowsJob, type RowsJobDeps } from './service.ts'

// Enough for a learning rate for each of 20,000 batches.
const bodyLimitBytes = 2 * 1024 * 1024

export function routeRowsTrainingJobs(api: RestApi, deps: RowsJobDeps): void {
  for (const method of methodNames.filter(isRowsMethod)) {
    const { about, path } = methods[method]
    api.post(
      path,
      {
        tag: 'Training jobs',
        summary: `Train a model on ${about} (${method})`,
        description:
          'training_data_url is the address of an uploaded data set (wandb-artifact:///ENTITY/PROJECT/NAME:v0, or ' +
          ':latest), or an https:// or s3:// address that the administrator allows.',
        idempotent: true,
        idParameter: 'training_job_id',
        body: describeRowsRequest(method),
        bodyLimitBytes,
        answer: trainingJobIdSchema,
      },
      (request) => createRowsJob(deps, request, { method, body: request.body }),
    )
  }
}
