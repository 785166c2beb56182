import type { PermitAnswer, PermitRequest } from '../accounts/limits/permits/messages.ts'

/** What a process tells the supervisor. */
export type ProcessMessage = { permits: PermitRequest } | { alive: true }

/** What the supervisor tells a process. */
export type SupervisorMessage = { permits: PermitAnswer } | { areYouAlive: true } | { end: true }

/** The channel between them carries nothing else; what Node itself sends on it is not given to listeners. */
export function isProcessMessage(message: unknown): message is ProcessMessage {
  return hasMember(message, ['permits', 'alive'])
}

export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return hasMember(message, ['permits', 'areYouAlive', 'end'])
}

function hasMember(message: unknown, names: readonly string[]): boolean {
  return typeof message === 'object' && message !== null && names.some((name) => name in message)
}
