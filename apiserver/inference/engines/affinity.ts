// The beginning of a conversation stays the same from turn to turn. More of it would only cost time.
const maxPrefixLength = 1_024

/** What requests have in common that should go to the same engine. */
export interface AffinityKey {
  entity: string
  /** the engine's name of the model */
  model: string
  /** the beginning of the prompt */
  prefix: string
}

/** A number that equal keys have, in each process and replica. */
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

/** Mixes a key and a pod to a number that looks random: MurmurHash3's last step, which maps no two numbers to one. */
export function scorePair(keyHash: number, podHash: number): number {
  let score = keyHash ^ podHash
  score = Math.imul(score ^ (score >>> 16), 0x85ebca6b)
  score = Math.imul(score ^ (score >>> 13), 0xc2b2ae35)
  return (score ^ (score >>> 16)) >>> 0
}
