import { mkdir } from 'node:fs/promises'
import { Interrupted, UserError } from '../user-error.ts'
import type { InstallContext } from './context.ts'
import { installConsole } from './console.ts'
import { installControlPlane, type ControlPlane } from './control-plane.ts'
import { installTrainerEnvironment, type PythonEnvironment } from './python-environment.ts'

/** The programs that are installed outside of the repository, and their paths. */
export interface Installation {
  controlPlane: ControlPlane
  python: PythonEnvironment
}

/** Installs the missing parts, and builds the console, at the same time. The first failure aborts the other parts and is thrown. */
export async function install(context: InstallContext): Promise<Installation> {
  await mkdir(context.config.cacheFolder, { recursive: true })
  const failed = new AbortController()
  const together = { ...context, signal: AbortSignal.any([context.signal, failed.signal]) }
  const parts = [installControlPlane(together), installTrainerEnvironment(together), installConsole(together)] as const
  for (const part of parts) part.catch(() => failed.abort())
  const outcomes = await Promise.allSettled(parts)
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  if (errors.length > 0) throw mergeErrors(errors)
  const [controlPlane, python] = await Promise.all(parts)
  return { controlPlane, python }
}

/**
 * Chooses the error to throw: all errors that the user can fix, in one. An interruption that one of them caused is left
 * out.
 */
function mergeErrors(errors: unknown[]): unknown {
  const userErrors = errors.filter((error) => error instanceof UserError)
  if (userErrors.length > 1) return new UserError(userErrors.map(({ message }) => message).join('\n'))
  return errors.find((error) => !(error instanceof Interrupted)) ?? errors[0]
}
