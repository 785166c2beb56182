/**
 * The states of a training job, in the order in which it has them. A TrainingJob's phase is the same. This is their one
 * declaration: tests compare the enum of the custom resource and the CHECK of the table with it.
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

/** The states that no job leaves. */
export const terminalStates = ['Succeeded', 'Failed', 'Cancelled'] as const satisfies readonly JobState[]

export type TerminalState = (typeof terminalStates)[number]

const terminal: ReadonlySet<JobState> = new Set(terminalStates)

export function isTerminal(state: JobState): state is TerminalState {
  return terminal.has(state)
}
