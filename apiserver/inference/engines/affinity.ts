// The beginning of a conversation stays the same in all its requests. A longer prefix would only cost time.
const maxPrefixLength = 1_024

/** Requests with equal keys should go to the same engine. */
export interface AffinityKey {
  entity: string
  /** the engine's name of the model */
  model: string
  /** the beginning of the prompt */
  prefix: string
}

/** A hash that is the same in every process and replica. */
export function hashAffinity({ entity, model, prefix }: AffinityKey): number {
  return hashText(`${entity}\n${model}\n${prefix.slice(0, maxPrefixLength)}`)
}

/** FNV-1a of 32 bits over the text's UTF-16 units. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/**
 * Mixes the hashes of a key and of a pod into a number that looks random. This is the last step of MurmurHash3, which
 * maps different numbers to different numbers.
 */
export function scorePair(keyHash: number, podHash: number): number {
  let score = keyHash ^ podHash
  score = Math.imul(score ^ (score >>> 16), 0x85ebca6b)
  score = Math.imul(score ^ (score >>> 13), 0xc2b2ae35)
  return (score ^ (score >>> 16)) >>> 0
}
