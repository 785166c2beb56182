import { expect, test } from 'vitest'
import { ProbeTally } from './probe-tally.ts'

const follow = (probe: object, results: string) => {
  const tally = new ProbeTally(probe)
  return results.split('').map((result) => {
    tally.add(result === '+')
    return tally.verdict
  })
}

test.each([
  ['one success is enough by default', {}, '+', ['success']],
  ['three failures in a row by default', {}, '+---', ['success', 'success', 'success', 'failure']],
  [
    'a success between failures starts the count again',
    { failureThreshold: 2 },
    '+-+--',
    ['success', 'success', 'success', 'success', 'failure'],
  ],
  ['a success threshold', { successThreshold: 2 }, '+-++', ['unknown', 'unknown', 'unknown', 'success']],
])('%s', (_name, probe, results, verdicts) => {
  expect(follow(probe, results)).toEqual(verdicts)
})
