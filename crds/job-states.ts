/**
 * The states of a training job in order. A TrainingJob's phase has the same values. This is their only declaration:
 * tests compare it with the enum of the custom resource and the CHECK of the table.
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

/** The final states of a job. */
export const terminalStates = ['Succeeded', 'Failed', 'Cancelled'] as const satisfies readonly JobState[]

export type TerminalState = (typeof terminalStates)[number]

const terminal: ReadonlySet<JobState> = new Set(terminalStates)

export function isTerminal(state: JobState): state is TerminalState {
  return terminal.has(state)
}
