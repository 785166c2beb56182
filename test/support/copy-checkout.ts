import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..', '..')

/**
 * Copies this checkout with its uncommitted changes to a new folder, so that no change to it reaches this one.
 */
export async function copyCheckout(): Promise<string> {
  const copy = await mkdtemp(path.join(tmpdir(), 'trainyard-copy-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    await cp(path.join(root, file), path.join(copy, file)).catch(skipDeleted)
  }
  await symlink(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  return copy
}

/** Git lists a deleted file until the deletion is committed. */
function skipDeleted(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
