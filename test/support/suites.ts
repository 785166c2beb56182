import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { quarantine } from '../quarantine.ts'
import { ensureSeed, isNightly } from './random-cases.ts'
import { noTests, readJunit, readVitestReport, type Outcome } from './reports.ts'
import { runCommand } from './run-command.ts'

export interface Suite {
  name: string
  /** Whether vitest runs it, which can choose its files by their imports. */
  isVitest?: boolean
  run: (context: SuiteContext) => Promise<Outcome>
}

export interface SuiteContext {
  /** The prefix of the suite's lines. */
  name: string
  /** A folder for reports. */
  reports: string
  /** Only the files that import what has changed since this commit. */
  changedSince?: string
}

/** The results and the time of a suite, in seconds. */
interface FinishedSuite {
  suite: Suite
  seconds: number
  outcome: Outcome
}

const root = path.join(import.meta.dirname, '..', '..')
export const trainer = path.join(root, 'trainer')

/** Files that `npm run test:nightly` runs, and everybody who names them. */
const nightlyFiles = '**/*.nightly.test.ts'

const crashed = (why: string): Outcome => {
  console.error(`✗ ${why}`)
  return { ...noTests(), failed: 1, failures: [why] }
}

interface VitestRun {
  project: string
  /** Without names, all files of the project. */
  files?: string[]
  env?: NodeJS.ProcessEnv
  /** A command that starts the one behind it, such as `unshare --net`. */
  through?: readonly string[]
}

/** Runs a vitest project and reads its counts from its own report. */
export async function runVitest(suite: SuiteContext, run: VitestRun): Promise<Outcome> {
  const { project, files = [], env = {}, through = [] } = run
  const report = path.join(suite.reports, `${suite.name}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const nightly = isNightly() ? [] : [`--exclude=${nightlyFiles}`]
  const changed = suite.changedSince === undefined ? [] : ['--changed', suite.changedSince]
  const args = ['run', '--project', project, ...reporters, ...nightly, ...changed, ...files]
  const [program, ...rest] = [...through, path.join(root, 'node_modules/.bin/vitest'), ...args]
  const code = await runCommand({ program: program!, args: rest, cwd: root, env, prefix: suite.name })
  const outcome = await readVitestReport(report, root).catch(() => crashed(`the ${project} tests made no report`))
  // A run can fail outside of any test: an error between tests, or a failed setup.
  return code !== 0 && outcome.failed === 0 ? { ...outcome, failed: 1 } : outcome
}

interface PytestRun {
  python: string
  env: NodeJS.ProcessEnv
  /** Files or folders in `trainer/`, and options. Without files, those of its settings. */
  paths?: string[]
  /** A command that starts the one behind it. */
  through?: readonly string[]
}

/** Runs pytest. Counts come from its JUnit report. */
export async function runPytest(suite: SuiteContext, run: PytestRun): Promise<Outcome> {
  const { python, env, paths = [], through = [] } = run
  const report = path.join(suite.reports, `${suite.name}.xml`)
  const [program, ...args] = [...through, python, '-m', 'pytest', '-q', `--junitxml=${report}`, ...paths]
  const code = await runCommand({ program: program!, args, cwd: trainer, env, prefix: suite.name })
  const outcome = await readJunit(report, 'trainer').catch(() => crashed('pytest made no report'))
  return code !== 0 && outcome.failed === 0 ? { ...outcome, failed: 1 } : outcome
}

/**
 * Runs lanes of suites at the same time. The suites of a lane run one after the other. Then the last suites
 * run. The last line is the sum. A suite that throws counts as a failure.
 */
export async function runSuites(lanes: readonly (readonly Suite[])[], last: readonly Suite[] = []): Promise<void> {
  console.log(`random tests have the seed ${ensureSeed()}`)
  const reports = await mkdtemp(path.join(tmpdir(), 'trainyard-test-'))
  const finished: FinishedSuite[] = []
  const runLane = async (lane: readonly Suite[]) => {
    for (const suite of lane) finished.push(await runSuite(suite, reports))
  }
  await Promise.all(lanes.map(runLane))
  for (const suite of last) finished.push(await runSuite(suite, reports))
  await rm(reports, { recursive: true })
  printSummary(finished)
  process.exitCode = finished.some(({ outcome }) => outcome.failed > 0) ? 1 : 0
}

async function runSuite(suite: Suite, reports: string): Promise<FinishedSuite> {
  const { name, run } = suite
  console.log(`${name} | begins`)
  const started = performance.now()
  const outcome = spare(await run({ name, reports }).catch((error: unknown) => crashed(`${name}: ${String(error)}`)))
  const seconds = (performance.now() - started) / 1000
  console.log(`${name} | ${outcome.passed} passed, ${outcome.failed} failed in ${Math.round(seconds)} s`)
  return { suite, seconds, outcome }
}

/** Does not count the failures of tests in quarantine. */
function spare(outcome: Outcome): Outcome {
  const isSpared = (failure: string) => quarantine.some(({ test }) => failure.startsWith(`${test}\n`))
  const quarantined = outcome.failures.filter(isSpared)
  const failures = outcome.failures.filter((failure) => !isSpared(failure))
  return { ...outcome, failed: outcome.failed - quarantined.length, failures, quarantined }
}

const maxFiles = 20

/** At most this many lines of a failure are printed again at the end. */
const maxFailureLines = 25

/**
 * Prints the times, the slowest files, the failures, the seed and the skipped tests. The last line is the sum.
 */
function printSummary(suites: readonly FinishedSuite[]): void {
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
