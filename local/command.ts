import { Interrupted, UserError } from './user-error.ts'

const advices: Partial<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space, then run this again.',
  EDQUOT: 'The disk quota is used up: free some space, then run this again.',
  EROFS: 'The disk is read-only: set TRAINYARD_CACHE and TRAINYARD_STATE to writable folders.',
  EACCES: 'This user cannot write there: set TRAINYARD_CACHE and TRAINYARD_STATE to folders of your own.',
}

/**
 * Runs a terminal command. The first Ctrl-C (or SIGTERM) aborts the signal. The exit code is 0 after success, 1 after a
 * failure and 130 after an interruption. A failure is printed as a sentence.
 */
export async function runCommand(main: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruption = new AbortController()
  // Ctrl-C may arrive several times (from the terminal, npm and entry). Only the first one counts, so that the cleanup
  // is not interrupted.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => interruption.abort(new Interrupted()))
  try {
    await main(interruption.signal)
    process.exitCode = 0
  } catch (error) {
    const interrupted = error instanceof Interrupted || interruption.signal.aborted
    process.stderr.write(
      `${interrupted ? 'Interrupted. What this command started is stopped; no data is lost.' : describeError(error)}\n`,
    )
    process.exitCode = interrupted ? 130 : 1
  }
  // Open keep-alive sockets would delay the exit.
  process.exit()
}

/** Returns a sentence for an error that the user can fix, and a stack trace for a bug. */
export function describeError(error: unknown): string {
  if (error instanceof UserError) return error.message
  const { code, path } = error as NodeJS.ErrnoException
  const advice = advices[code ?? '']
  if (advice && error instanceof Error) return `${path ?? error.message} (${code}). ${advice}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
