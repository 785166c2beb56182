import { mkdir } from 'node:fs/promises'
import { Interrupted, UserError } from '../user-error.ts'
import type { InstallContext } from './context.ts'
import { installControlPlane, type ControlPlane } from './control-plane.ts'
import { installTrainerEnvironment, type PythonEnvironment } from './python-environment.ts'

/** What is installed outside of the repository, and where. */
export interface Installation {
  controlPlane: ControlPlane
  python: PythonEnvironment
}

/** Installs what is missing, both parts side by side. The first failure stops the other part, and is the one thrown. */
export async function install(context: InstallContext): Promise<Installation> {
  await mkdir(context.config.cacheFolder, { recursive: true })
  const failed = new AbortController()
  const together = { ...context, signal: AbortSignal.any([context.signal, failed.signal]) }
  const parts = [installControlPlane(together), installTrainerEnvironment(together)] as const
  for (const part of parts) part.catch(() => failed.abort())
  const outcomes = await Promise.allSettled(parts)
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  if (errors.length > 0) throw mergeErrors(errors)
  const [controlPlane, python] = await Promise.all(parts)
  return { controlPlane, python }
}

/** What to throw for the parts' errors: all that the user can put right at once, and never the interruption they caused. */
function mergeErrors(errors: unknown[]): unknown {
  const userErrors = errors.filter((error) => error instanceof UserError)
  if (userErrors.length > 1) return new UserError(userErrors.map(({ message }) => message).join('\n'))
  return errors.find((error) => !(error instanceof Interrupted)) ?? errors[0]
}
