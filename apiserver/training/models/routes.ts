import type { RestApi } from '../../accounts/rest-api.ts'
import { isRetry } from '../../../lib/http/retry.ts'
import { countedListOf, presentPage, withTotal } from '../../../lib/http/page.ts'
import { deleteOwnModel } from './delete.ts'
import { forkModel, type ForkDeps } from './fork.ts'
import { presentModel } from './present.ts'
import { forkBodySchema, modelCreateSchema, modelDeletionSchema, modelListQuery, modelSchema } from './schema.ts'
import { createModel, getModelDetails, listOwnModels, type ModelDeps } from './service.ts'

const tag = 'Models'

export function routeModels(api: RestApi, deps: ForkDeps & ModelDeps): void {
  api.post(
    '/v1/preview/models',
    {
      tag,
      summary: 'Create a model, or get the one with this name',
      body: modelCreateSchema,
      answer: modelSchema,
      idempotent: true,
      idParameter: 'model_id',
    },
    async ({ caller, newId, body }) => {
      const { id } = await createModel(deps, { caller, newId }, body)
      return presentModel(await getModelDetails(deps.pool, caller.entity, id))
    },
  )

  api.get(
    '/v1/preview/models',
    { tag, summary: 'List models, oldest first', query: modelListQuery, answer: countedListOf(modelSchema) },
    async ({ caller, query }) => {
      const { rows, total } = await listOwnModels(deps.pool, caller.entity, query)
      return withTotal(presentPage(rows, query.limit, presentModel), total)
    },
  )

  api.get(
    '/v1/preview/models/{model_id}',
    { tag, summary: 'Get a model', answer: modelSchema },
    async ({ caller, params }) => presentModel(await getModelDetails(deps.pool, caller.entity, params.model_id)),
  )

  api.delete(
    '/v1/preview/models/{model_id}',
    {
      tag,
      summary: 'Delete a model with everything that belongs to it',
      description:
        'Unfinished jobs are cancelled, and the name can be used again at once. The files are removed within ' +
        'seconds.',
      answer: modelDeletionSchema,
      idempotent: true,
    },
    ({ ctx, caller, params }) => deleteOwnModel(deps.pool, caller.entity, params.model_id, isRetry(ctx)),
  )

  api.post(
    '/v1/preview/models/{model_id}/fork',
    {
      tag,
      summary: 'Create a model from a checkpoint of this one',
      body: forkBodySchema,
      bodyOptional: true,
      answer: modelSchema,
      idempotent: true,
      idParameter: 'model_id',
    },
    async ({ caller, newId, params, body }) => {
      const id = await forkModel(deps, { caller, newId, modelId: params.model_id }, body ?? {})
      return presentModel(await getModelDetails(deps.pool, caller.entity, id))
    },
  )
}
