/** A user by numbers. */
export interface UserIds {
  uid: number
  gid: number
}

/** The user that Postgres runs as under root, from the text of `/etc/passwd`. */
export function unprivilegedUser(passwd: string): UserIds | undefined
/** Whether this user may enter all folders above a file. */
export function isReachable(file: string, uid: number): boolean
/** Where `unshare` may be. */
export const unshareFolders: readonly string[]
/** Arguments of `unshare` for a user namespace whose only user has this number, and is root outside. */
export function namespaceArguments(user: UserIds): string[]
