import type { Deps } from '../../deps.ts'
import type { Api } from '../../http/api.ts'
import { listOf, orderedPageQuery, presentPage } from '../list.ts'
import { presentCheckpoint, presentModel } from './present.ts'
import { checkpointSchema, modelCreateSchema, modelSchema } from './schema.ts'
import { createModel, getModel, listModelCheckpoints } from './service.ts'

const tag = 'Models'

export function routeModels(api: Api, deps: Deps): void {
  api.post(
    '/v1/preview/models',
    {
      tag,
      summary: 'Make a model, or get the one of this name',
      body: modelCreateSchema,
      answer: modelSchema,
      creates: true,
    },
    async ({ caller, newId, body }) => presentModel(await createModel(deps, { caller, newId }, body)),
  )

  api.get(
    '/v1/preview/models/{model_id}',
    { tag, summary: 'Read a model', answer: modelSchema },
    async ({ caller, params }) => presentModel(await getModel(deps, caller.entity, params['model_id']!)),
  )

  api.get(
    '/v1/preview/models/{model_id}/checkpoints',
    { tag, summary: "List a model's checkpoints", query: orderedPageQuery, answer: listOf(checkpointSchema) },
    async ({ caller, params, query }) => {
      const rows = await listModelCheckpoints(deps, caller.entity, params['model_id']!, query)
      return presentPage(rows, query.limit, presentCheckpoint)
    },
  )
}
