import { Type } from 'typebox'
import { setRetention } from '../../../db/retention/checkpoints.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import { presentModel } from './present.ts'
import { modelSchema } from './schema.ts'
import { getModel, getModelDetails } from './service.ts'
import { retentionBodySchema } from './retention-schema.ts'

const path = '/v1/preview/models/{model_id}/retention'

export function routeRetention(api: RestApi, pool: Pool): void {
  api.put(
    path,
    {
      tag: 'Models',
      summary: "Set the retention of a model's checkpoints",
      description:
        'A checkpoint is kept while one rule keeps it: it is one of the last, one of the best, or younger than ' +
        '`ttl_seconds`. The newest checkpoint and those with an alias are always kept. null keeps all.',
      body: retentionBodySchema,
      answer: modelSchema,
    },
    async ({ caller, params, body }) => {
      const { id } = await getModel(pool, caller.entity, params.model_id)
      await setRetention(pool, id, body)
      return presentModel(await getModelDetails(pool, caller.entity, id))
    },
  )

  api.get(
    path,
    {
      tag: 'Models',
      summary: "Get the retention of a model's checkpoints",
      answer: Type.Object({ retention: retentionBodySchema }),
    },
    async ({ caller, params }) => {
      const { retention } = await getModelDetails(pool, caller.entity, params.model_id)
      return { retention }
    },
  )
}
