import { deleteSpareCheckpoints } from '../../db/deletion/checkpoints.ts'
import {
  listRetainedCheckpoints,
  listRetentionDue,
  markRetentionApplied,
  type RetainedModel,
} from '../../db/retention/checkpoints.ts'
import type { Context } from '../context.ts'
import { planRetention } from './plan.ts'

// How late a checkpoint may be found too old.
const everySeconds = 60

/** Deletes the checkpoints that their models' retention does not keep; their files go as those of all deleted ones. */
export async function applyRetention(context: Pick<Context, 'pool' | 'log'>): Promise<void> {
  for (const model of await listRetentionDue(context.pool, everySeconds)) await applyTo(context, model)
}

async function applyTo({ pool, log }: Pick<Context, 'pool' | 'log'>, { id, retention }: RetainedModel): Promise<void> {
  const steps = planRetention(retention, await listRetainedCheckpoints(pool, id))
  // What an alias or a job needs by now stays.
  const deleted = steps.length > 0 ? await deleteSpareCheckpoints(pool, id, steps) : []
  await markRetentionApplied(pool, id, retention)
  if (deleted.length > 0) log.info({ model: id, steps: deleted }, 'checkpoints deleted by retention')
}
