import { statSync } from 'node:fs'
import path from 'node:path'

/** The user that Postgres runs as when the stack runs as root, from the text of `/etc/passwd`. */
export function unprivilegedUser(passwd) {
  for (const name of ['postgres', 'nobody']) {
    const fields = passwd
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.split(':')
    if (fields) return { uid: Number(fields[2]), gid: Number(fields[3]) }
  }
  return undefined
}

/** Whether this user may enter all folders above a file. */
export function isReachable(file, uid) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const { mode, uid: owner } = statSync(folder)
    if ((mode & (owner === uid ? 0o100 : 0o001)) === 0) return false
    if (folder === '/') return true
  }
}

/** Possible folders of `unshare`. */
export const unshareFolders = ['/usr/bin', '/bin', '/usr/local/bin']

/**
 * Arguments of `unshare` for a user namespace that has one user. Inside, the user has this number. Outside, it is root.
 */
export function namespaceArguments({ uid, gid }) {
  return ['--user', `--map-user=${uid}`, `--map-group=${gid}`, '--']
}
