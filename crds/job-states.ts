/**
 * The states of a training job in order, as its row has them. This is their only declaration: tests compare it with the
 * CHECK of the table.
 */
export const jobStates = [
  'Pending',
  'Queued',
  'Starting',
  'Running',
  'Publishing',
  'Succeeded',
  'Failed',
  'Cancelled',
] as const

export type JobState = (typeof jobStates)[number]

/**
 * What people see of a job: its state, or that it is suspended or is about to be. This is the `state` of REST and the phase
 * of a TrainingJob, whose enum a test compares.
 */
export const jobPhases = [
  'Pending',
  'Queued',
  'Starting',
  'Running',
  'Publishing',
  'Suspending',
  'Suspended',
  'Succeeded',
  'Failed',
  'Cancelled',
] as const

export type JobPhase = (typeof jobPhases)[number]

/** The final states of a job. */
export const terminalStates = ['Succeeded', 'Failed', 'Cancelled'] as const satisfies readonly JobState[]

export type TerminalState = (typeof terminalStates)[number]

const terminal: ReadonlySet<JobPhase> = new Set(terminalStates)

export function isTerminal(phase: JobPhase): phase is TerminalState {
  return terminal.has(phase)
}
