import { randomInt } from 'node:crypto'

/** `npm run test:nightly` makes this many times the random cases of `npm test`. */
const nightlyFactor = 10

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
  return Number(process.env.TRAINYARD_TEST_RUNS ?? 1) * (isNightly() ? nightlyFactor : 1)
}

/** The first cases of a list. The nightly run has all. */
export function limitCases<Case>(cases: readonly Case[], count: number): readonly Case[] {
  return isNightly() ? cases : cases.slice(0, count)
}

/** Returns the seed in TRAINYARD_TEST_SEED, or sets a new one there. Child processes inherit it. */
export function ensureSeed(): number {
  const text = (process.env.TRAINYARD_TEST_SEED ??= String(randomInt(2 ** 31)))
  const seed = Number(text)
  if (text === '' || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 31)
    throw new Error(`TRAINYARD_TEST_SEED is "${text}"; it must be a whole number from 0 to ${2 ** 31 - 1}`)
  return seed
}

export function isNightly(): boolean {
  return process.env.TRAINYARD_TEST_NIGHTLY === '1'
}
