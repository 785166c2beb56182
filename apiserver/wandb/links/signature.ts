import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a link permits, and until when. */
export interface LinkClaims {
  method: string
  /** The path of the request, as it is sent. */
  path: string
  /** Seconds since 1970. */
  expires: number
  /** The SHA-256 of the API key that the link was made for, in base64url. */
  keyDigest: string
}

// Claims cannot contain a line break: the path is encoded, and the others are words and numbers.
const listClaims = ({ method, path, expires, keyDigest }: LinkClaims) => [method, path, expires, keyDigest].join('\n')

/** Signs a link, in base64url. */
export function signClaims(secret: Buffer, claims: LinkClaims): string {
  return createHmac('sha256', secret).update(listClaims(claims)).digest('base64url')
}

/** Whether a signature is right. The duration does not depend on where it is wrong. */
export function isSignature(secret: Buffer, claims: LinkClaims, signature: string): boolean {
  const expected = createHmac('sha256', secret).update(listClaims(claims)).digest()
  const given = Buffer.from(signature, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
