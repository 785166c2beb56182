import { createHash, hash } from 'node:crypto'
import { toPythonJson } from '../../lib/json/python.ts'
import type { Value } from '../../lib/json/value.ts'

/** The digest of a file: its SHA-256 in 43 letters and digits. */
export function digestBytes(bytes: Uint8Array | string): string {
  return presentDigest(hash('sha256', bytes, 'buffer'))
}

/** Writes a SHA-256 as a digest. */
export function presentDigest(sha256: Buffer): string {
  return sha256.toString('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
}

/** The digest of an object or a row. The clients' Python code computes the same. */
export function digestValue(value: Value): string {
  return digestBytes(toPythonJson(value))
}

/** The digest of a table: the SHA-256 of its concatenated row digests, in hexadecimal. */
export function digestTable(rowDigests: readonly string[]): string {
  const digest = createHash('sha256')
  for (const rowDigest of rowDigests) digest.update(rowDigest)
  return digest.digest('hex')
}
