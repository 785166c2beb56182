import { withInvalidation } from '../../db/changes.ts'
import { deleteSpareCheckpoints } from '../../db/deletion/checkpoints.ts'
import {
  listRetainedCheckpoints,
  listRetentionDue,
  markRetentionApplied,
  type RetainedModel,
} from '../../db/retention/checkpoints.ts'
import type { Logger } from '../../lib/log.ts'
import type { Pool } from '../../db/pool.ts'
import { planRetention } from './plan.ts'

interface Deps {
  pool: Pool
  log: Logger
}

// A checkpoint is deleted at most this late.
const everySeconds = 60

/**
 * Deletes the checkpoints that their models' retention does not keep. Their files are removed later, like those of all
 * deleted checkpoints.
 */
export async function applyCheckpointRetention(deps: Deps): Promise<void> {
  for (const model of await listRetentionDue(deps.pool, everySeconds)) await applyTo(deps, model)
}

async function applyTo({ pool, log }: Deps, model: RetainedModel): Promise<void> {
  const { id, retention } = model
  const steps = planRetention(retention, await listRetainedCheckpoints(pool, id))
  // A checkpoint that an alias or a job needs stays.
  const remove = () => withInvalidation(pool, (connection) => deleteSpareCheckpoints(connection, id, steps))
  const deleted = steps.length > 0 ? await remove() : []
  await markRetentionApplied(pool, model)
  if (deleted.length > 0) log.info({ model: id, steps: deleted }, 'checkpoints deleted by retention')
}
