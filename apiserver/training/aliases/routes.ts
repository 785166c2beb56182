import type { Pool } from '../../../db/pool.ts'
import type { PathParams } from '../../../lib/http/operation.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import { isRetry } from '../../../lib/http/retry.ts'
import { listOf } from '../../../lib/http/page.ts'
import { presentAlias, presentAliasList } from './present.ts'
import { aliasBodySchema, aliasDeletionSchema, aliasSchema } from './schema.ts'
import { deleteModelAlias, listModelAliases, putAlias, type AliasKey } from './service.ts'

const tag = 'Models'
const path = '/v1/preview/models/{model_id}/aliases'

export function routeAliases(api: RestApi, pool: Pool): void {
  api.get(path, { tag, summary: "List a model's aliases", answer: listOf(aliasSchema) }, async ({ caller, params }) =>
    presentAliasList(await listModelAliases(pool, caller.entity, params.model_id)),
  )

  api.put(
    `${path}/{alias}`,
    {
      tag,
      summary: 'Point an alias at a step',
      description: 'Chats with the model `entity/project/name:ALIAS` then use this step.',
      body: aliasBodySchema,
      answer: aliasSchema,
    },
    async ({ caller, params, body }) => presentAlias(await putAlias(pool, keyOf(caller.entity, params), body.step)),
  )

  api.delete(
    `${path}/{alias}`,
    { tag, summary: 'Delete an alias', answer: aliasDeletionSchema },
    ({ ctx, caller, params }) => deleteModelAlias(pool, keyOf(caller.entity, params), isRetry(ctx)),
  )
}

function keyOf(entity: string, params: PathParams<`${typeof path}/{alias}`>): AliasKey {
  return { entity, modelId: params.model_id, alias: params.alias }
}
