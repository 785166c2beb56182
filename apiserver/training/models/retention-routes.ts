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
      summary: "Set what keeps a model's checkpoints",
      description:
        'A checkpoint stays as long as one rule keeps it: it is among the last, among the best, or younger than ' +
        '`ttl_seconds`. The newest, and one that an alias names, always stay. null keeps everything.',
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
      summary: "Read what keeps a model's checkpoints",
      answer: Type.Object({ retention: retentionBodySchema }),
    },
    async ({ caller, params }) => {
      const { retention } = await getModelDetails(pool, caller.entity, params.model_id)
      return { retention }
    },
  )
}
