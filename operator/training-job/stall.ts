import { conditions, reasons } from '../../crds/names.ts'
import type { OperatorJob } from '../../db/jobs/resources.ts'
import { buildCondition, type ConditionInput, type StatusReason } from '../conditions.ts'

// A trainer reports every step, and by default saves once a minute. A step that takes ten times as long is none that
// somebody has planned. Nothing is done to the job, so a false alarm costs nothing.
const stallMinutes = 10

type RunningJob = Pick<OperatorJob, 'state' | 'reportedAt'>

/** Why a job that runs does not seem to go on: its trainer lives, and has reported nothing for long. */
export function explainStall({ state, reportedAt }: RunningJob, now: Date): StatusReason | undefined {
  if (state !== 'Running' || reportedAt === null) return undefined
  if (now.getTime() - reportedAt.getTime() < stallMinutes * 60_000) return undefined
  const since = reportedAt.toISOString().replace(/\.\d+Z$/, 'Z')
  const message = `Its trainer has reported no step and no save since ${since}. It lives: its heartbeats go on.`
  return { reason: reasons.stalled, message }
}

/** The condition Stalled, of a job that runs. */
export function describeStall(job: RunningJob, now: Date): ConditionInput[] {
  if (job.state !== 'Running') return []
  const goesOn = { reason: reasons.stepReported, message: `It has reported within ${stallMinutes} minutes.` }
  const stall = explainStall(job, now)
  return [buildCondition(conditions.stalled, stall !== undefined, stall ?? goesOn)]
}
