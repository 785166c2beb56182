import { UserError } from '../user-error.ts'

/**
 * Checks that a file is a training payload: JSON with a list `trajectory_groups`. The trainer checks the groups.
 *
 * @throws {Problem} that names the file and the error
 */
export function parsePayload(file: string, bytes: Uint8Array): void {
  const payload = parseJson(file, bytes)
  const groups = (payload as { trajectory_groups?: unknown } | null)?.trajectory_groups
  if (!Array.isArray(groups) || groups.length === 0) {
    throw new UserError(
      `${file} is not a training payload: it must be {"trajectory_groups": [...]} with at least one group.`,
    )
  }
}

function parseJson(file: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new UserError(`${file} is not JSON: ${(cause as Error).message}`, { cause })
  }
}
