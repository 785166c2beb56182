import { randomInt } from 'node:crypto'

/** `npm run test:deep` makes this many times the random cases of `npm test`. */
const deepFactor = 10

/** The cases of a random test. `seed` and `numRuns` are fast-check's words. */
export interface RandomCases {
  seed: number
  numRuns: number
}

/** Chooses a test's share of random cases from the run's seed. Without a fixed seed, each run has other cases. */
export function chooseCases(share: number): RandomCases {
  return { seed: ensureSeed(), numRuns: isDeep() ? share * deepFactor : share }
}

/** Returns the seed in TRAINYARD_TEST_SEED, or sets a new one there. Child processes inherit it. */
export function ensureSeed(): number {
  const text = (process.env.TRAINYARD_TEST_SEED ??= String(randomInt(2 ** 31)))
  const seed = Number(text)
  if (text === '' || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 31)
    throw new Error(`TRAINYARD_TEST_SEED is "${text}"; it must be a whole number from 0 to ${2 ** 31 - 1}`)
  return seed
}

export function isDeep(): boolean {
  return process.env.TRAINYARD_TEST_DEEP === '1'
}
