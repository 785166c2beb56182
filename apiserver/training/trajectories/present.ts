import type { TrajectoryRow } from '../../../db/trajectories/trajectories.ts'

export function presentTrajectory(row: TrajectoryRow) {
  return {
    id: row.id,
    model_id: row.modelId,
    job_id: row.jobId,
    log_id: row.logId,
    split: row.split,
    step: row.step,
    group_index: row.groupIndex,
    trajectory_index: row.trajectoryIndex,
    group_exceptions: row.groupExceptions,
    scenario_id: row.scenarioId,
    prompt_hash: row.promptHash,
    reward: row.reward,
    advantage: row.advantage,
    metrics: row.metrics,
    tokens: row.tokens,
    flags: row.flags,
    push: row.push,
    created_at: row.createdAt.toISOString(),
  }
}
