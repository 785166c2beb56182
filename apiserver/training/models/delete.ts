import { notFound } from '../../../lib/http/http-error.ts'
import { findDeletionAnswer, recordDeletion } from '../../../db/deletion/answers.ts'
import { withInvalidation } from '../../../db/changes.ts'
import { deleteModel } from '../../../db/deletion/models.ts'
import type { Pool } from '../../../db/pool.ts'
import { requireModelId } from '../../accounts/model-references.ts'
import type { ModelDeletion } from './schema.ts'

/**
 * Deletes a model of the entity: no chat after the answer uses it. The operator removes its data outside of the
 * database. A repeated request gets the first answer again.
 */
export async function deleteOwnModel(
  pool: Pool,
  entity: string,
  reference: string,
  repeated: boolean,
): Promise<ModelDeletion> {
  const id = await requireModelId(pool, entity, reference)
  const target = `model/${id}`
  return withInvalidation(pool, async (connection) => {
    const deletedCheckpoints = await deleteModel(connection, { id, entity })
    if (deletedCheckpoints === undefined) {
      const recorded = repeated ? await findDeletionAnswer<ModelDeletion>(connection, entity, target) : undefined
      if (!recorded) throw notFound('Model', reference)
      return recorded
    }
    const answer = { model_id: id, deleted_checkpoints: deletedCheckpoints, deleted_run: true } as const
    await recordDeletion(connection, entity, target, answer)
    return answer
  })
}
