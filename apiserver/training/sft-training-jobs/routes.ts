import type { RestApi } from '../../accounts/rest-api.ts'
import { sftRequestSchema } from '../settings/request.ts'
import { trainingJobIdSchema } from '../training-jobs/schema.ts'
import { createSftJob, type SftJobDeps } from './service.ts'

// Enough for a learning rate for each of 20,000 batches.
const bodyLimitBytes = 2 * 1024 * 1024

export function routeSftTrainingJobs(api: RestApi, deps: SftJobDeps): void {
  api.post(
    '/v1/preview/sft-training-jobs',
    {
      tag: 'Training jobs',
      summary: 'Train a model on conversations (SFT)',
      description:
        'training_data_url is the address of an uploaded data set (wandb-artifact:///ENTITY/PROJECT/NAME:v0, or ' +
        ':latest), or an https:// or s3:// address that the administrator allows.',
      idempotent: true,
      idParameter: 'training_job_id',
      body: sftRequestSchema,
      bodyLimitBytes,
      answer: trainingJobIdSchema,
    },
    (request) => createSftJob(deps, request, request.body),
  )
}
