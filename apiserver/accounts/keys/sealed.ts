import { decrypt, deriveKey, encrypt } from '../../../lib/sealing/encrypt.ts'

// A stored answer of an Idempotency-Key must not contain an API key in plain text, because others can read the
// database. So the new key is encrypted with the key that the caller sent, which the database does not know either.
const purpose = 'trainyard sealed answer'

/** Encrypts a text with the caller's own API key. */
export function seal(text: string, callerKey: string): string {
  return encrypt(text, deriveKey(callerKey, purpose)).toString('base64')
}

/** Decrypts a text; undefined if it was encrypted with another key. */
export function unseal(sealed: string, callerKey: string): string | undefined {
  return decrypt(Buffer.from(sealed, 'base64'), deriveKey(callerKey, purpose))
}
