import { createHash, hash } from 'node:crypto'
import { toPythonJson } from '../../lib/json/python.ts'
import type { Value } from '../../lib/json/value.ts'

/** Digest of a file: its SHA-256 in 43 letters and digits. */
export function digestBytes(bytes: Uint8Array | string): string {
  return presentDigest(hash('sha256', bytes, 'buffer'))
}

/** The same of bytes whose SHA-256 is known. */
export function presentDigest(sha256: Buffer): string {
  return sha256.toString('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
}

/** Digest of an object or of a row, the same as clients get in Python. */
export function digestValue(value: Value): string {
  return digestBytes(toPythonJson(value))
}

/** Digest of a table: SHA-256 of its rows' digests one after the other, in hexadecimal. */
export function digestTable(rowDigests: readonly string[]): string {
  const digest = createHash('sha256')
  for (const rowDigest of rowDigests) digest.update(rowDigest)
  return digest.digest('hex')
}
