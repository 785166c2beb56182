import { expect, test } from 'vitest'
import { repeatFailures } from './repeat-failures.ts'
import { noTests, type Outcome } from './reports.ts'
import type { FinishedSuite } from './suite.ts'

const passing = { seconds: 1, passed: 2, failed: 0 }
const failing = { seconds: 1, passed: 1, failed: 1 }

const ended = (name: string, outcome: Partial<Outcome>): FinishedSuite => ({
  suite: { name, run: async () => noTests() },
  seconds: 10,
  outcome: { ...noTests(), ...outcome },
})

const good = ended('good', { passed: 2, files: new Map([['good.test.ts', passing]]) })
const oneFailed = ended('bad', {
  passed: 3,
  failed: 1,
  failures: ['bad.test.ts: adds'],
  files: new Map([
    ['fine.test.ts', passing],
    ['bad.test.ts', failing],
  ]),
})

test('a failed file runs alone once more, and is flaky if it passes then', async () => {
  const asked: string[][] = []
  const [same, repeated] = await repeatFailures([good, oneFailed], async ({ name }, files) => {
    asked.push([name, ...files])
    return ended(name, { passed: 2, files: new Map([['bad.test.ts', passing]]) })
  })
  expect(asked).toEqual([['bad', 'bad.test.ts']])
  expect(same).toBe(good)
  expect(repeated).toMatchObject({ seconds: 20, outcome: { passed: 4, failed: 0, failures: [] } })
  expect(repeated!.outcome.flaky).toEqual(['bad.test.ts: adds'])
})

test('a file that fails twice has failed', async () => {
  const again = ended('bad', { passed: 1, failed: 1, failures: ['again'], files: new Map([['bad.test.ts', failing]]) })
  const [repeated] = await repeatFailures([oneFailed], async () => again)
  expect(repeated!.outcome).toMatchObject({ passed: 3, failed: 1, failures: ['again'], flaky: [] })
})

const fourFailed = ended('bad', {
  failed: 4,
  files: new Map(['a', 'b', 'c', 'd'].map((name) => [name, { seconds: 1, passed: 0, failed: 1 }])),
})
const lintFailed = ended('checks', { failed: 1 })

test.each([
  ['nothing failed', [good]],
  ['many files failed', [fourFailed]],
  ['something failed outside of files', [oneFailed, lintFailed]],
])('nothing runs again if %s', async (_, finished) => {
  const result = await repeatFailures(finished, () => Promise.reject(new Error('ran again')))
  expect(result).toBe(finished)
})
