import { closeSync, openSync, readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { Refusal } from '../../refusal.ts'
import { checkBody, type CheckedBody } from './check-body.ts'
import type { BodyKind } from './shapes.ts'

/** What the thread is asked: to check the body in a file. */
export interface CheckTask {
  file: string
  kind: BodyKind
}

/** What it answers: what the body says, or why it is refused. */
export type CheckOutcome = { checked: CheckedBody } | { refused: Pick<Refusal, 'status' | 'detail'> }

// Nothing else waits in this thread, so it may read in the plainest way.
function check({ file, kind }: CheckTask): CheckOutcome {
  const handle = openSync(file, 'r')
  try {
    return { checked: checkBody((into) => readSync(handle, into, 0, into.length, null), kind) }
  } catch (error) {
    if (error instanceof Refusal) return { refused: { status: error.status, detail: error.detail } }
    throw error
  } finally {
    closeSync(handle)
  }
}

const noTransfer: [] = []
const port = parentPort!
port.on('message', (task: CheckTask) => port.postMessage(check(task), noTransfer))
