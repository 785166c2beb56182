import { describeMissingPython, judgePython, pythonCommands, pythonProbe } from '../preflight/requirements.mjs'
import { UserError } from '../user-error.ts'
import { runChild } from './run-child.ts'

/** A Python interpreter that environments can be created with. */
export interface Python {
  command: string
  /** For example `3.12.4`. */
  version: string
}

/** Finds a Python that the pinned requirements support. */
export async function findPython(signal: AbortSignal): Promise<Python> {
  const errors: string[] = []
  for (const command of pythonCommands) {
    const outcome = await probePython(command, signal)
    if (typeof outcome === 'object') return outcome
    if (outcome) errors.push(outcome)
  }
  throw new UserError(describeMissingPython(errors))
}

/** Returns the interpreter, or why it cannot be used. The reason is empty if there is no program of this name. */
async function probePython(command: string, signal: AbortSignal): Promise<Python | string> {
  const result = await runChild(command, ['-c', pythonProbe], { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error
    return undefined
  })
  if (!result) return ''
  const { version, error = '' } = judgePython(command, { ...result, stderr: result.tail })
  return version === undefined ? error : { command, version }
}
