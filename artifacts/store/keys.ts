import { scheme } from '../layout.ts'

const segment = '[a-zA-Z0-9][a-zA-Z0-9._-]*'
const keyPattern = new RegExp(`^[a-z0-9][a-zA-Z0-9._-]*(/${segment})*$`)
// Below what S3 takes (1,024 bytes, of which a store's own prefix needs some) and what file systems take for a name.
const maxKeyLength = 800
const maxSegmentLength = 200

/** The key of an `artifact:///KEY` address, or undefined when it is no such address. */
export function artifactKey(uri: string): string | undefined {
  if (!uri.startsWith(scheme)) return undefined
  const key = uri.slice(scheme.length)
  return isKey(key) ? key : undefined
}

/** The address of a key. */
export function artifactUri(key: string): string {
  return scheme + requireKey(key)
}

/** True for a name that every store can hold and that leads nowhere else. */
export function isKey(key: string): boolean {
  if (key.length > maxKeyLength || !keyPattern.test(key) || key.includes('..')) return false
  return key.split('/').every((part) => part.length <= maxSegmentLength)
}

/** The same key. @throws {Error} when it is not a key: the caller must check what users send */
export function requireKey(key: string): string {
  if (!isKey(key)) throw new Error('not a key of the artifact store')
  return key
}

/** A folder of keys, which may be given with a last slash, without it. */
export function requireFolder(prefix: string): string {
  return requireKey(prefix.replace(/\/$/, ''))
}

/** What the keys of a folder start with; the empty prefix is the whole store. */
export function requirePrefix(prefix: string): string {
  return prefix === '' ? '' : `${requireFolder(prefix)}/`
}
