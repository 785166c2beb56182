/** Random numbers. The same seed gives the same numbers. */
export interface Random {
  /** An integer from 0 to below `limit`, which is at most 2^32. */
  below: (limit: number) => number
  /** Normally distributed, with mean 0 and standard deviation 1. */
  normal: () => number
}

/** Uses mulberry32, which is fast and good enough for texts and choices. */
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
