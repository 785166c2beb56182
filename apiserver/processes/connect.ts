import { SharedPermits } from '../accounts/limits/permits/shared-permits.ts'
import type { OpenPermits } from '../accounts/limits/slots.ts'
import { isSupervisorMessage, type ProcessMessage, type ProcessMetrics, type SupervisorMessage } from './messages.ts'

// How long a process keeps an unused permit. It may be up to twice as long.
const returnUnusedMs = 5_000

/**
 * Connects this process with its supervisor. The process reports that it is alive, sends its metrics, gets permits, and
 * ends when the supervisor says so. If the supervisor dies, Node ends the process at once (`disconnect` in
 * lib/internal/cluster/child.js), because the next supervisor would not know its permits.
 */
export function connectToSupervisor(readMetrics: () => Promise<ProcessMetrics>): OpenPermits {
  const opened = new Map<string, SharedPermits>()
  process.on('message', (message) => {
    if (isSupervisorMessage(message)) receive(opened, readMetrics, message)
  })
  // Node does not end a process that was told to accept no more connections.
  process.once('disconnect', end)
  const returning = setInterval(() => {
    for (const permits of opened.values()) permits.returnUnused()
  }, returnUnusedMs)
  returning.unref()
  return (limitName) => {
    const permits = new SharedPermits(limitName, (request) => send({ permits: request }))
    opened.set(limitName, permits)
    return permits
  }
}

function receive(
  opened: ReadonlyMap<string, SharedPermits>,
  readMetrics: () => Promise<ProcessMetrics>,
  message: SupervisorMessage,
): void {
  if ('permits' in message) opened.get(message.permits.name)?.receive(message.permits)
  // Without an answer, the supervisor uses the earlier one.
  else if ('readMetrics' in message)
    readMetrics().then(
      (metrics) => send({ metrics }),
      () => {},
    )
  else if ('end' in message) end()
  else send({ alive: true })
}

/** Errors are ignored: if the supervisor cannot be reached, this process ends with the channel. */
function send(message: ProcessMessage): void {
  process.send?.(message, undefined, undefined, () => {})
}

function end(): void {
  process.kill(process.pid, 'SIGTERM')
}
