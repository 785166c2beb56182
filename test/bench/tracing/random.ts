/** Numbers that are the same for the same seed. */
export interface Random {
  /** A whole number from 0 to below `limit`, which is at most 2^32. */
  below: (limit: number) => number
  /** Normal, around 0 with a spread of 1. */
  normal: () => number
}

/** By mulberry32: good enough for texts and choices, and quick. */
export function createRandom(seed: number): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (limit) => Math.floor(next() * limit),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  }
}
