import type { PermitAnswer, PermitRequest } from '../accounts/limits/permits/messages.ts'

/** A message from a process to the supervisor. */
export type ProcessMessage = { permits: PermitRequest } | { alive: true }

/** A message from the supervisor to a process. */
export type SupervisorMessage = { permits: PermitAnswer } | { areYouAlive: true } | { end: true }

/** The channel between them has no other messages. Node's own messages on it are not passed to listeners. */
export function isProcessMessage(message: unknown): message is ProcessMessage {
  return hasMember(message, ['permits', 'alive'])
}

export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return hasMember(message, ['permits', 'areYouAlive', 'end'])
}

function hasMember(message: unknown, names: readonly string[]): boolean {
  return typeof message === 'object' && message !== null && names.some((name) => name in message)
}
