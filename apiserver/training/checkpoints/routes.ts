import type { RestApi } from '../../accounts/rest-api.ts'
import { isRetry } from '../../../lib/http/retry.ts'
import { countedListOf, countedOrderedPageQuery, presentPage, withTotal } from '../../../lib/http/page.ts'
import { listCheckpointFiles } from './files.ts'
import { presentCheckpoint, presentCheckpointDetails } from './present.ts'
import {
  checkpointDetailsSchema,
  checkpointSchema,
  stepsBodySchema,
  stepsDeletionSchema,
  stepsQuerySchema,
} from './schema.ts'
import { deleteModelCheckpoints, getCheckpoint, listModelCheckpoints, type CheckpointDeps } from './service.ts'
import { readSteps } from './steps.ts'

const tag = 'Checkpoints'
const path = '/v1/preview/models/{model_id}/checkpoints'

export function routeCheckpoints(api: RestApi, deps: CheckpointDeps): void {
  api.get(
    path,
    {
      tag,
      summary: "List a model's checkpoints",
      query: countedOrderedPageQuery,
      answer: countedListOf(checkpointSchema),
    },
    async ({ caller, params, query }) => {
      const { rows, total } = await listModelCheckpoints(deps.pool, caller.entity, params.model_id, query)
      return withTotal(presentPage(rows, query.limit, presentCheckpoint), total)
    },
  )

  api.delete(
    path,
    {
      tag,
      summary: "Delete some of a model's checkpoints",
      description: 'Steps are in the body or in the query. A step with an alias is a 409.',
      query: stepsQuerySchema,
      body: stepsBodySchema,
      bodyOptional: true,
      answer: stepsDeletionSchema,
    },
    ({ ctx, caller, params, body }) => {
      const steps = readSteps(body?.steps, ctx.query)
      const wanted = { steps, repeated: isRetry(ctx) }
      return deleteModelCheckpoints(deps.pool, caller.entity, params.model_id, wanted)
    },
  )

  api.get(
    `${path}/{step}`,
    {
      tag,
      summary: 'Get a checkpoint and its files',
      description: 'The step is a number, an alias, or `latest`.',
      answer: checkpointDetailsSchema,
    },
    async ({ caller, params }) => {
      const checkpoint = await getCheckpoint(deps.pool, caller.entity, params.model_id, params.step)
      return presentCheckpointDetails(checkpoint, await listCheckpointFiles(deps.artifacts, checkpoint))
    },
  )
}
