import { leaseSeconds } from '../../db/jobs/attempts.ts'
import type { Claim } from '../../db/jobs/claims.ts'

/** Converts a claim to the form that trainers read. */
export function presentClaim(claim: Claim): Record<string, unknown> {
  return {
    id: claim.id,
    attempt: claim.attempt,
    entity: claim.entity,
    model_id: claim.modelId,
    model_name: claim.modelName,
    base_model: claim.baseModel,
    method: claim.method,
    input: claim.input,
    config: claim.config,
    step: claim.step,
    checkpoint_id: claim.checkpointId,
    from_checkpoint: claim.fromCheckpoint,
    resume: claim.resume,
    reference: claim.reference,
    token_statistics: claim.tokenStatistics,
    lease_seconds: leaseSeconds,
  }
}
