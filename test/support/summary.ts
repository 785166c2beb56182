import { isNightly } from './random-cases.ts'
import type { FinishedSuite } from './suite.ts'

const maxFiles = 20

/** At most this many lines of a failure are printed again at the end. */
const maxFailureLines = 25

/**
 * Prints the times, the slowest files, the failures, the seed and the skipped tests. The last line is the sum.
 */
export function printSummary(suites: readonly FinishedSuite[]): void {
  const times = suites.map(({ suite, seconds }): [string, number] => [suite.name, seconds])
  const files = suites
    .flatMap(({ outcome }) => [...outcome.files].map(([file, { seconds }]): [string, number] => [file, seconds]))
    .toSorted(([, a], [, b]) => b - a)
  console.log(`\n${formatTable('suite', times)}\n\n${formatTable('file', files.slice(0, maxFiles))}\n`)
  const print = (failure: string) => console.log(`${failure.split('\n').slice(0, maxFailureLines).join('\n')}\n`)
  for (const { outcome } of suites) {
    for (const failure of outcome.quarantined) print(`in quarantine: ${failure}`)
    for (const failure of outcome.failures) print(`✗ ${failure}`)
  }
  const choice = isNightly() ? 'TRAINYARD_TEST_NIGHTLY=1 ' : ''
  console.log(`${choice}TRAINYARD_TEST_SEED=${process.env.TRAINYARD_TEST_SEED} makes the same random cases again.`)
  for (const { outcome } of suites) for (const skip of outcome.skipped) console.log(`skipped: ${skip}`)
  const sum = (field: 'passed' | 'failed') => suites.reduce((total, { outcome }) => total + outcome[field], 0)
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
}

function formatTable(what: string, rows: [string, number][]): string {
  const lines = rows.map(([name, seconds]) => `| ${name} | ${seconds.toFixed(0)} s |`)
  return [`| ${what} | time |`, '|---|---|', ...lines].join('\n')
}
