import { describeMissingPython, judgePython, pythonCommands, pythonProbe } from '../preflight/requirements.mjs'
import { UserError } from '../user-error.ts'
import { findExecutable } from './find-programs.ts'
import { runChild } from './run-child.ts'

/** A Python interpreter that environments can be created with. */
export interface Python {
  /** Its path. uv would take a name for a version, and use another Python of that version. */
  command: string
  /** For example `3.12.4`. */
  version: string
}

/** Finds a Python in the search path that the pinned requirements support. */
export async function findPython(searchPath: readonly string[], signal: AbortSignal): Promise<Python> {
  const errors: string[] = []
  for (const name of pythonCommands) {
    const command = await findExecutable(name, searchPath)
    const outcome = command && (await probePython(command, signal))
    if (typeof outcome === 'object') return outcome
    if (outcome) errors.push(outcome)
  }
  throw new UserError(describeMissingPython(errors))
}

/**
 * Returns the interpreter, or why it cannot be used. The reason is empty if it does not start. Without minor
 * versions, those of the pinned requirements serve.
 */
export async function probePython(
  command: string,
  signal: AbortSignal,
  minors?: readonly number[],
): Promise<Python | string> {
  const result = await runChild(command, ['-c', pythonProbe], { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error
    return undefined
  })
  if (!result) return ''
  const { version, error = '' } = judgePython(command, { ...result, stderr: result.tail }, minors)
  return version === undefined ? error : { command, version }
}
