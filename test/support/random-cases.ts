import { randomInt } from 'node:crypto'

/** `npm run test:deep` makes this many times the random cases of `npm test`. */
const deepFactor = 10

/** What a random test makes: `seed` and `numRuns` are fast-check's words. */
export interface RandomCases {
  seed: number
  numRuns: number
}

/** A test's share of random cases in this run, from the run's seed: other cases in each run, the same where it is set. */
export function chooseCases(share: number): RandomCases {
  return { seed: ensureSeed(), numRuns: isDeep() ? share * deepFactor : share }
}

/** The seed of TRAINYARD_TEST_SEED, or a new one, which goes there: the processes that a run starts inherit it. */
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
