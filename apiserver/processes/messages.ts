import type { PermitAnswer, PermitRequest } from '../accounts/limits/permits/messages.ts'

/** The metrics of a process, as prom-client's registries return them. */
export type ProcessMetrics = readonly object[]

/** A message from a process to the supervisor. */
export type ProcessMessage = { permits: PermitRequest } | { alive: true } | { metrics: ProcessMetrics }

/** A message from the supervisor to a process. */
export type SupervisorMessage =
  | { permits: PermitAnswer }
  | { areYouAlive: true }
  | { readMetrics: true }
  | { end: true }

/** The channel between them has no other messages. Node's own messages on it are not passed to listeners. */
export function isProcessMessage(message: unknown): message is ProcessMessage {
  return hasMember(message, ['permits', 'alive', 'metrics'])
}

export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return hasMember(message, ['permits', 'areYouAlive', 'readMetrics', 'end'])
}

function hasMember(message: unknown, names: readonly string[]): boolean {
  return typeof message === 'object' && message !== null && names.some((name) => name in message)
}
