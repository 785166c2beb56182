import { afterEach, expect, test, vi } from 'vitest'
import { chooseCases, chooseShare, ensureSeed } from './random-cases.ts'

afterEach(() => vi.unstubAllEnvs())

test('a seed that is set is kept, and every test has it', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', '7')
  vi.stubEnv('TRAINYARD_TEST_DEEP', undefined)
  expect([ensureSeed(), chooseCases(30)]).toEqual([7, { seed: 7, numRuns: 30 }])
})

test('without a set seed each run has its own, which its child processes inherit', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', undefined)
  const first = ensureSeed()
  expect([ensureSeed(), process.env['TRAINYARD_TEST_SEED']]).toEqual([first, String(first)])
  vi.stubEnv('TRAINYARD_TEST_SEED', undefined)
  expect(ensureSeed()).not.toBe(first)
})

test('a deep run has ten times the cases', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', '7')
  vi.stubEnv('TRAINYARD_TEST_DEEP', '1')
  expect(chooseCases(30)).toEqual({ seed: 7, numRuns: 300 })
})

test('several runs in one have the cases of each', () => {
  vi.stubEnv('TRAINYARD_TEST_SEED', '7')
  vi.stubEnv('TRAINYARD_TEST_DEEP', undefined)
  vi.stubEnv('TRAINYARD_TEST_RUNS', '300')
  expect(chooseCases(30)).toEqual({ seed: 7, numRuns: 9_000 })
})

test('a run has a share of the cases, which its seed chooses, and a deep run has all', () => {
  const cases = ['a', 'b', 'c', 'd', 'e']
  vi.stubEnv('TRAINYARD_TEST_DEEP', undefined)
  vi.stubEnv('TRAINYARD_TEST_SHARE', undefined)
  const shares = Array.from({ length: 50 }, (_, seed) => {
    vi.stubEnv('TRAINYARD_TEST_SEED', String(seed))
    expect(chooseShare(cases, 2)).toEqual(chooseShare(cases, 2))
    return chooseShare(cases, 2)
  })
  for (const share of shares) expect([share.length, share.toSorted()]).toEqual([2, share])
  expect(new Set(shares.flat())).toEqual(new Set(cases))
  vi.stubEnv('TRAINYARD_TEST_DEEP', '1')
  expect(chooseShare(cases, 2)).toEqual(cases)
})

test('a share can follow from something else than the seed', () => {
  const cases = ['a', 'b', 'c', 'd', 'e']
  vi.stubEnv('TRAINYARD_TEST_DEEP', undefined)
  vi.stubEnv('TRAINYARD_TEST_SHARE', '2026-11-24')
  const shares = ['1', '2', '3'].map((seed) => {
    vi.stubEnv('TRAINYARD_TEST_SEED', seed)
    return chooseShare(cases, 2).join()
  })
  expect(new Set(shares).size).toBe(1)
})

test.each(['', 'abc', '-1', '1.5', '2147483648'])('"%s" is not a seed', (text) => {
  vi.stubEnv('TRAINYARD_TEST_SEED', text)
  expect(ensureSeed).toThrow(`TRAINYARD_TEST_SEED is "${text}"; it must be a whole number from 0 to 2147483647`)
})
