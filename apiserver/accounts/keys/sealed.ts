import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

// An answer that is kept under an Idempotency-Key must not hold a key in clear: the database has other readers. So it
// holds it sealed with the key that the caller sent, which the database does not know either.
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

/** The text that was sealed with this key; undefined when it was another one. */
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
