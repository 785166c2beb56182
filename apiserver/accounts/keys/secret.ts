import { hash, randomInt } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
// 62^43 is the first power above 2^256. The wandb client rejects keys of fewer than 40 characters. It only counts those
// after the first dash, so a key has no dash.
export const keyLength = 43
export const mark = 'ty_'
// People recognize a key by these few characters. The rest cannot be guessed.
const prefixLength = mark.length + 6

/** Generates a new key. It is shown once and stored nowhere. */
export function generateKey(): string {
  return mark + Array.from({ length: keyLength }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** The SHA-256 of a key. Only this is stored. */
export function digestKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** The characters that identify a key for people. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength)
}
