/** The digest of a file, as clients know it, from its SHA-256: see `digestBytes`, which computes both. */
export function presentDigest(sha256: Buffer): string {
  return sha256.toString('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
}
