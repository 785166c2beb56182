import { parentPort, type TransferListItem } from 'node:worker_threads'

/** The default export of a module for worker threads. */
export interface ThreadFunction<Task, Outcome> {
  run: (task: Task) => Outcome
  /** Parts of an outcome that are moved to the caller instead of copied. */
  listTransfers?: (outcome: Outcome) => TransferListItem[]
}

/** A message without a task only loads the module. */
export interface ThreadMessage {
  module: string
  task?: unknown
}

/** The thread's answer after it has loaded a module. */
export const loaded = 'loaded'

async function answer(port: NonNullable<typeof parentPort>, message: ThreadMessage): Promise<void> {
  const { default: given } = (await import(message.module)) as { default: ThreadFunction<unknown, unknown> }
  if (!('task' in message)) return port.postMessage(loaded, [])
  const outcome = given.run(message.task)
  port.postMessage(outcome, given.listTransfers?.(outcome) ?? [])
}

const port = parentPort
// An error ends the thread, and its message goes to the caller.
port?.on('message', (message: ThreadMessage) => void answer(port, message))
