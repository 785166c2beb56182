import type { ChildProcess } from 'node:child_process'
import type { Logger } from '../../lib/log.ts'
import { isProcessMessage, type SupervisorMessage } from './messages.ts'

/** How often a process is asked whether it is alive, and how many questions in a row may stay unanswered. */
export interface LivenessCheck {
  periodMs: number
  maxMissed: number
}

// The same values as in the pod's liveness probe. That probe reaches another process if one does not answer.
const defaultCheck: LivenessCheck = { periodMs: 10_000, maxMissed: 3 }
const question: SupervisorMessage = { areYouAlive: true }

/**
 * Kills a process that stops answering. It counts questions and not time, because the machine may have been suspended.
 */
export function watchLiveness(child: ChildProcess, log: Logger, check: LivenessCheck = defaultCheck): void {
  let missed = 0
  child.on('message', (message: unknown) => {
    if (isProcessMessage(message) && 'alive' in message) missed = 0
  })
  const asking = setInterval(() => {
    if (missed === check.maxMissed) {
      log.error({ processId: child.pid, missed }, 'process does not answer and is killed')
      child.kill('SIGKILL')
    }
    missed++
    child.send(question, () => {})
  }, check.periodMs)
  child.once('exit', () => clearInterval(asking))
}
