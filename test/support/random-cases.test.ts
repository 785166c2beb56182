import { afterEach, expect, test, vi } from 'vitest'
import { chooseCases, limitCases, ensureSeed } from './random-cases.ts'

afterEach(() => vi.unstubAllEnvs())

test('a seed that is set is kept, and every test has it', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', '7')
  vi.stubEnv('TRAINYARD_TEST_NIGHTLY', undefined)
  expect([ensureSeed(), chooseCases(30)]).toEqual([7, { seed: 7, numRuns: 30 }])
})

test('without a set seed each run has its own, which its child processes inherit', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', undefined)
  const first = ensureSeed()
  expect([ensureSeed(), process.env['TRAINYARD_TEST_SEED']]).toEqual([first, String(first)])
  vi.stubEnv('TRAINYARD_TEST_SEED', undefined)
  expect(ensureSeed()).not.toBe(first)
})

test('the nightly run has ten times the cases', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', '7')
  vi.stubEnv('TRAINYARD_TEST_NIGHTLY', '1')
  expect(chooseCases(30)).toEqual({ seed: 7, numRuns: 300 })
})

test('several runs in one have the cases of each', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', '7')
  vi.stubEnv('TRAINYARD_TEST_NIGHTLY', undefined)
  vi.stubEnv('TRAINYARD_TEST_RUNS', '300')
  expect(chooseCases(30)).toEqual({ seed: 7, numRuns: 9_000 })
})

test('a run has the first cases of a list, and the nightly run has all', () => {
  vi.stubEnv('TRAINYARD_TEST_NIGHTLY', undefined)
  expect(limitCases(['a', 'b', 'c'], 2)).toEqual(['a', 'b'])
  vi.stubEnv('TRAINYARD_TEST_NIGHTLY', '1')
  expect(limitCases(['a', 'b', 'c'], 2)).toEqual(['a', 'b', 'c'])
})
