import { stat } from 'node:fs/promises'
import { StoreFailed } from './failed.ts'
import { StoreMisconfigured } from './misconfigured.ts'

const denied = new Set(['EACCES', 'EPERM', 'EROFS'])

/** An error of a folder. If the volume does not let this user write, it says whom the files belong to, and what to change. */
export async function explainFolderError(what: string, root: string, cause: unknown): Promise<StoreFailed> {
  if (cause instanceof StoreFailed) return cause
  const { code = '', path = root } = cause as NodeJS.ErrnoException
  if (!denied.has(code)) return new StoreFailed(what, { cause })
  const found = (await stat(path).catch(() => undefined)) ?? (await stat(root).catch(() => undefined))
  const owner = found && `It belongs to user ${found.uid} and group ${found.gid}, with the mode ${modeOf(found.mode)}. `
  const message =
    `${what}: ${code} at ${path}. ${owner ?? ''}This process is user ${process.geteuid?.()} with the groups ` +
    `${process.getgroups?.().join(', ')}. Apiserver, operator and trainers must be able to write and remove each other's files: ` +
    'use a volume that takes fsGroup, or give all pods the user or the group of the volume (podSecurityContext.runAsUser, runAsGroup).'
  return new StoreMisconfigured(message, { cause })
}

function modeOf(mode: number): string {
  return (mode & 0o7777).toString(8)
}
