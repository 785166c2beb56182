import { closeSync, openSync, readSync } from 'node:fs'
import { HttpError } from '../../../lib/http/http-error.ts'
import type { ThreadFunction } from '../../../lib/worker-threads/program.ts'
import { checkBody, type CheckedBody } from './check-body.ts'
import { checkDataSet } from './check-data-set.ts'
import type { BodyReading } from './read-body.ts'
import type { BodyKind } from './shapes.ts'

/** The task of a thread: the body in a file, or SFT data, whose file has a name for messages. */
export type CheckTask = { file: string } & (BodyReading | { kind: 'sft'; path: string })

/** The members of the body (nothing for SFT data), or the error. */
export type CheckOutcome<Kind extends BodyKind = BodyKind> =
  | { checked: CheckedBody<Kind> | undefined }
  | { error: Pick<HttpError, 'code' | 'detail'> }

/** It reads synchronously, because nothing else waits in its thread. */
function checkFile(task: CheckTask): CheckOutcome {
  const handle = openSync(task.file, 'r')
  const readInto = (into: Uint8Array) => readSync(handle, into, 0, into.length, null)
  try {
    if (task.kind !== 'sft') return { checked: checkBody(readInto, task) }
    checkDataSet(readInto, task.path)
    return { checked: undefined }
  } catch (error) {
    if (error instanceof HttpError) return { error: { code: error.code, detail: error.detail } }
    throw error
  } finally {
    closeSync(handle)
  }
}

export default { run: checkFile } satisfies ThreadFunction<CheckTask, CheckOutcome>
