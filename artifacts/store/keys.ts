import { scheme } from '../layout.ts'

const segment = '[a-zA-Z0-9][a-zA-Z0-9._-]*'
const keyPattern = new RegExp(`^[a-z0-9][a-zA-Z0-9._-]*(/${segment})*$`)
// Below the limits of S3 (1,024 bytes, which include the store's own prefix) and of file systems for names.
const maxKeyLength = 800
const maxSegmentLength = 200

/** The key of an `artifact:///KEY` address. Undefined for any other address. */
export function artifactKey(uri: string): string | undefined {
  if (!uri.startsWith(scheme)) return undefined
  const key = uri.slice(scheme.length)
  return isKey(key) ? key : undefined
}

/** The address of a key. */
export function artifactUri(key: string): string {
  return scheme + requireKey(key)
}

/** Whether every store can store this name, and the name leads nowhere else. */
export function isKey(key: string): boolean {
  if (key.length > maxKeyLength || !keyPattern.test(key) || key.includes('..')) return false
  return key.split('/').every((part) => part.length <= maxSegmentLength)
}

/** Returns the key. @throws {Error} for an invalid key: the caller must validate what users send */
export function requireKey(key: string): string {
  if (!isKey(key)) throw new Error('not a key of the artifact store')
  return key
}

/** A folder of keys. The argument may end with a slash. */
export function requireFolder(prefix: string): string {
  return requireKey(prefix.replace(/\/$/, ''))
}

/** The prefix of the keys in a folder. The empty prefix is the whole store. */
export function requirePrefix(prefix: string): string {
  return prefix === '' ? '' : `${requireFolder(prefix)}/`
}
