import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

// A stored answer of an Idempotency-Key must not contain an API key in plain text, because others can read the
// database. So the new key is encrypted with the key that the caller sent, which the database does not know either.
const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts a text with the caller's own API key. */
export function seal(text: string, callerKey: string): string {
  const nonce = randomBytes(nonceBytes)
  const encryption = createCipheriv(cipher, deriveKey(callerKey), nonce)
  const sealed = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()])
  return Buffer.concat([nonce, encryption.getAuthTag(), sealed]).toString('base64')
}

/** Decrypts a text; undefined if it was encrypted with another key. */
export function unseal(sealed: string, callerKey: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  const decryption = createDecipheriv(cipher, deriveKey(callerKey), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decryption.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    return Buffer.concat([decryption.update(bytes.subarray(nonceBytes + tagBytes)), decryption.final()]).toString()
  } catch {
    return undefined
  }
}

function deriveKey(callerKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', callerKey, '', 'trainyard sealed answer', 32))
}
