import { hash } from 'node:crypto'

// The digests of keys and sessions are cached together. A session's value is never looked up as a key.
const sessionMark = 'session:'

/** The digest by which the key of a request is looked up: its SHA-256 in base64. */
export function digestOfKey(key: string): string {
  return hash('sha256', key, 'base64')
}

/** The digest by which the session of a cookie is looked up. */
export function digestOfSession(value: string): string {
  return sessionMark + hash('sha256', value, 'base64')
}

/** What the database has of a digest. */
export function readDigest(digest: string): { isSession: boolean; bytes: Buffer } {
  const isSession = digest.startsWith(sessionMark)
  return { isSession, bytes: Buffer.from(isSession ? digest.slice(sessionMark.length) : digest, 'base64') }
}
