import { terminalStates, type JobState } from '../../crds/job-states.ts'

// Which file moves a job to which state:
//   insert.ts    Pending
//   enqueue.ts   Pending to Queued
//   claims.ts    Queued to Starting
//   reports.ts   Starting to Running; Starting or Running to Publishing
//   requeue.ts   Starting or Running back to Queued
//   endings.ts   Succeeded, Failed and Cancelled

/** SQL: the state is not terminal. Partial indexes use the same expression. */
export const unfinished = `NOT ${isOneOf(terminalStates)}`

/** SQL: a trainer holds the job. */
export const held = isOneOf(['Starting', 'Running'])

/**
 * SQL: only one job of a model can be in such a state. The index `jobs_one_active_per_model` uses the same expression.
 */
export const active = isOneOf(['Starting', 'Running', 'Publishing'])

/** SQL: the job has no checkpoint and may still make one. */
export const untrained = isOneOf(['Pending', 'Queued', 'Starting', 'Running'])

/** SQL: what people see of a job: its state, or that it is suspended or is about to be. */
export const phaseOf = (job: string): string =>
  `CASE WHEN NOT coalesce(${job}.suspend_asked, ${job}.suspend) THEN ${job}.state
     WHEN ${job}.state NOT IN ('Queued', 'Starting', 'Running') THEN ${job}.state
     WHEN ${job}.suspended_at IS NOT NULL THEN 'Suspended' ELSE 'Suspending' END`

function isOneOf(states: readonly JobState[]): string {
  return `IN (${states.map((state) => `'${state}'`).join(', ')})`
}
