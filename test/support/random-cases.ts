import { createHash, randomInt } from 'node:crypto'

/** `npm run test:deep` makes this many times the random cases of `npm test`. */
const deepFactor = 10

/** The cases of a random test. `seed` and `numRuns` are fast-check's words. */
export interface RandomCases {
  seed: number
  numRuns: number
}

/** Chooses a test's share of random cases from the run's seed. Without a fixed seed, each run has other cases. */
export function chooseCases(share: number): RandomCases {
  return { seed: ensureSeed(), numRuns: share * countRuns() }
}

/** How many runs of `npm test` have as many random cases as this one. TRAINYARD_TEST_RUNS=300 makes those of 300 runs. */
export function countRuns(): number {
  return Number(process.env.TRAINYARD_TEST_RUNS ?? 1) * (isDeep() ? deepFactor : 1)
}

/**
 * Chooses a test's share of cases that are always the same. TRAINYARD_TEST_SHARE decides which, or else the run's seed; a
 * deep run has all.
 */
export function chooseShare<Case>(cases: readonly Case[], share: number): Case[] {
  const seed = process.env.TRAINYARD_TEST_SHARE ?? ensureSeed()
  const place = (each: Case) =>
    createHash('sha256')
      .update(`${seed} ${JSON.stringify(each)}`)
      .digest('hex')
  const chosen = new Set(cases.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)).slice(0, share))
  return cases.filter((each) => isDeep() || chosen.has(each))
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
