import { unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { mayHaveStep } from '../../../db/jobs/reference-steps.ts'
import type { Pool } from '../../../db/pool.ts'
import type { RlConfig } from './rl-config.ts'

/**
 * A step that an earlier job of the model may still make is taken; where it then is not made, or is deleted before the
 * job's turn comes, the job fails.
 *
 * @throws {HttpError} 422 for a reference that the model does not have, and cannot come to have in time
 */
export async function requireReferenceStep(
  pool: Pool,
  modelId: string,
  config: RlConfig | null | undefined,
): Promise<void> {
  const step = config?.kl_penalty_reference_step
  if (step == null || (await mayHaveStep(pool, modelId, step))) return
  const reason = `the model has no step ${step}`
  const loc = ['body', 'experimental_config', 'kl_penalty_reference_step']
  throw unprocessable(valueError(loc, reason))
}
