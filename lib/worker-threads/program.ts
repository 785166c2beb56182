import { parentPort, type TransferListItem } from 'node:worker_threads'

/** What a module for worker threads exports by default. */
export interface ThreadFunction<Task, Outcome> {
  run: (task: Task) => Outcome
  /** the parts of an outcome that are moved to the caller instead of being copied */
  listTransfers?: (outcome: Outcome) => TransferListItem[]
}

/** A message without a task only loads the module. */
export interface ThreadMessage {
  module: string
  task?: unknown
}

/** What a thread answers when it has loaded a module. */
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
