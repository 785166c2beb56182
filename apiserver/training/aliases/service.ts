import { notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { aliasPattern, isAlias, maxAliasLength } from '../../../crds/names.ts'
import { deleteAlias, listAliases, setAlias, type AliasRow } from '../../../db/models/aliases.ts'
import { withInvalidation } from '../../../db/changes.ts'
import { findDeletionAnswer, recordDeletion } from '../../../db/deletion/answers.ts'
import type { Pool } from '../../../db/pool.ts'
import { getModel } from '../models/service.ts'
import type { AliasDeletion } from './schema.ts'

/** An alias of a model. */
export interface AliasKey {
  entity: string
  modelId: string
  alias: string
}

/** All aliases of a model. */
export async function listModelAliases(pool: Pool, entity: string, modelId: string): Promise<AliasRow[]> {
  const { id } = await getModel(pool, entity, modelId)
  return listAliases(pool, id)
}

/** Creates or moves an alias. Every chat that names it after the answer uses the new step. */
export async function putAlias(pool: Pool, { entity, modelId, alias }: AliasKey, step: number): Promise<AliasRow> {
  const { id } = await getModel(pool, entity, modelId)
  requireAlias(alias)
  const row = await withInvalidation(pool, (connection) => setAlias(connection, id, alias, step))
  if (!row) throw unprocessable(valueError(['body', 'step'], 'the model has no checkpoint for this step'))
  return row
}

/** Deletes an alias; its step stays. */
export async function deleteModelAlias(
  pool: Pool,
  { entity, modelId, alias }: AliasKey,
  repeated: boolean,
): Promise<AliasDeletion> {
  const { id } = await getModel(pool, entity, modelId)
  if (!isAlias(alias)) throw notFound('Alias')
  const target = `alias/${id}/${alias}`
  const answer = { alias, deleted: true } as const
  await withInvalidation(pool, async (connection) => {
    if (await deleteAlias(connection, id, alias)) await recordDeletion(connection, entity, target, answer)
    else if (!repeated || !(await findDeletionAnswer(connection, entity, target))) throw notFound('Alias')
  })
  return answer
}

function requireAlias(alias: string): void {
  if (isAlias(alias)) return
  const reason =
    `an alias matches ${aliasPattern}, has at most ${maxAliasLength} characters, and is neither latest nor ` +
    'stepN nor vN'
  throw unprocessable(valueError(['path', 'alias'], reason))
}
