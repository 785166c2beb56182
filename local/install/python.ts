import { Problem } from '../problem.ts'
import { runChild } from './run-child.ts'

/** A Python interpreter that the environment can be made from. */
export interface Python {
  command: string
  /** For example `3.12.4`. */
  version: string
}

// The newest that the pinned requirements support comes first; 3.14 is beyond them.
const candidates = ['python3.13', 'python3.12', 'python3.11', 'python3', 'python']
const supportedMinors = new Set([11, 12, 13])

// Debian splits venv's ensurepip into a package of its own: without it no environment can be made.
const probe = 'import ensurepip, platform, venv; print(platform.python_version())'

/** Finds a Python that the pinned requirements support. */
export async function findPython(signal: AbortSignal): Promise<Python> {
  const faults: string[] = []
  for (const command of candidates) {
    const outcome = await probePython(command, signal)
    if (typeof outcome === 'object') return outcome
    if (outcome) faults.push(outcome)
  }
  throw new Problem(
    `Trainyard needs Python 3.11, 3.12 or 3.13 with its venv module${faults.length ? ` (${faults.join('; ')})` : ''}. ` +
      'Install it, for example with `apt install python3 python3-venv`, then run this again.',
  )
}

/** The interpreter, or why it does not serve (empty: there is none of this name). */
async function probePython(command: string, signal: AbortSignal): Promise<Python | string> {
  const result = await runChild(command, ['-c', probe], { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error
    return undefined
  })
  if (!result) return ''
  if (result.code !== 0) return /ensurepip|venv/.test(result.tail) ? `${command} lacks venv` : ''
  return judgeVersion(command, result.stdout.trim())
}

export function judgeVersion(command: string, version: string): Python | string {
  const [major, minor] = version.split('.').map(Number)
  if (major === 3 && supportedMinors.has(minor!)) return { command, version }
  return `${command} is ${version}`
}
