/** A source of choices. The same seed gives the same choices. */
export interface Random {
  /** An integer from 0 to below `end`. */
  int: (end: number) => number
  pick: <T>(list: readonly T[]) => T
  /** Chooses 1 to `most` different items, in the list's order. Fewer if the list is shorter. */
  some: <T>(list: readonly T[], most: number) => T[]
  chance: (probability: number) => boolean
  /** A UUIDv7 of a time. */
  uuid: (timeMs: number) => string
}

/** Mulberry32, by Tommy Ettinger (public domain). */
export function createRandom(seed: number): Random {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const int = (end: number) => Math.floor(next() * end)
  const hex = (digits: number) => Array.from({ length: digits }, () => int(16).toString(16)).join('')
  return {
    int,
    pick: (list) => list[int(list.length)]!,
    some: (list, most) => {
      const chosen = new Set(Array.from({ length: 1 + int(most) }, () => int(list.length)))
      return list.filter((_, index) => chosen.has(index))
    },
    chance: (probability) => next() < probability,
    uuid: (timeMs) => {
      const time = timeMs.toString(16).padStart(12, '0')
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${(8 + int(4)).toString(16)}${hex(3)}-${hex(12)}`
    },
  }
}
