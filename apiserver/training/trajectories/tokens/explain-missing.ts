import { isTerminal } from '../../../../crds/job-states.ts'
import { keptSteps } from '../../../../db/retention/checkpoint-files.ts'
import type { StatisticsFile } from '../../../../db/trajectories/statistics-file.ts'
import type { TrajectoryRow } from '../../../../db/trajectories/trajectories.ts'

/** Why a trajectory has no token statistics. */
export const missingReasons = [
  'logged',
  'not_trained',
  'not_reported',
  'job_failed',
  'checkpoint_deleted',
  'removed',
  'not_kept',
] as const

export interface Missing {
  reason: (typeof missingReasons)[number]
  message: string
}

type Trajectory = Pick<TrajectoryRow, 'flags' | 'push'>

const howToKeep =
  'Jobs keep them for all trajectories when an admin sets PUT /v1/preview/limits/token-statistics to ' +
  '{"token_statistics": "all"} before they begin.'

/** Says why there are no rows of a trajectory. `file` is that of its job; undefined if it was only logged. */
export function explainMissing({ flags, push }: Trajectory, file: StatisticsFile | undefined): Missing {
  if (!file) return { reason: 'logged', message: 'It was logged and not trained on, so no loss was computed.' }
  if (flags.includes('no_logprobs'))
    return { reason: 'not_trained', message: 'None of its answers has log-probabilities, so nothing was trained on.' }
  if (flags.includes('zero_advantage') && !push)
    return {
      reason: 'not_trained',
      message: 'Its reward is the mean of its group, so its advantage is zero and training left it out.',
    }
  if (!file.isReported && file.checkpointId === null)
    return isTerminal(file.state)
      ? { reason: 'job_failed', message: `Its job ended without a checkpoint (${file.state}).` }
      : { reason: 'not_reported', message: `Its job is ${file.state}. The trainer reports them shortly after its end.` }
  if (file.isDeleted)
    return { reason: 'checkpoint_deleted', message: 'They were removed with the checkpoint of its job.' }
  if (!file.isReported)
    return { reason: 'not_reported', message: 'The trainer reports them shortly after the end of the job.' }
  if (file.bytes === null && (file.laterSteps ?? 0) >= keptSteps)
    return { reason: 'removed', message: `They are kept for the ${keptSteps} newest steps of a model. ${howToKeep}` }
  return {
    reason: 'not_kept',
    message:
      'Its job kept the statistics of no token of it: the setting token_statistics was `off`, or `sampled`, which ' +
      `keeps about one trajectory in 16. ${howToKeep}`,
  }
}
