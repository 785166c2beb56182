import { hash, randomInt } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
// 62^43 is the first power above 2^256. The wandb client refuses keys of fewer than 40 characters, of which it counts
// those behind the first dash: so there is none.
const length = 43
const mark = 'ty_'
// People recognize a key by these few characters. No search finds the rest.
const prefixLength = mark.length + 6

/** A new key. It is shown once and stored nowhere. */
export function generateKey(): string {
  return mark + Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** Sha256 of a key: all that is kept of it. */
export function digestKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** The characters of a key by which people recognise it. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength)
}
