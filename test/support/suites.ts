import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureSeed } from './random-cases.ts'
import { noTests, readJunit, readVitestReport, type Outcome } from './reports.ts'
import { runCommand } from './run-command.ts'
import { printSummary, type FinishedSuite } from './summary.ts'

const root = path.join(import.meta.dirname, '..', '..')
export const trainer = path.join(root, 'trainer')

export interface Suite {
  name: string
  run: (context: SuiteContext) => Promise<Outcome>
}

export interface SuiteContext {
  /** The prefix of the suite's lines. */
  name: string
  /** A folder for reports. */
  reports: string
}

const crashed = (why: string): Outcome => {
  console.error(`✗ ${why}`)
  return { ...noTests(), failed: 1, failures: [why] }
}

interface VitestRun {
  project: string
  /** Without names, all files of the project. */
  files?: string[]
  env?: NodeJS.ProcessEnv
}

/** Runs a vitest project and reads its counts from its own report. */
export async function runVitest(suite: SuiteContext, { project, files = [], env = {} }: VitestRun): Promise<Outcome> {
  const report = path.join(suite.reports, `${project}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const args = ['run', '--project', project, ...reporters, ...files]
  const program = path.join(root, 'node_modules/.bin/vitest')
  const code = await runCommand({ program, args, cwd: root, env, prefix: suite.name })
  const outcome = await readVitestReport(report, root).catch(() => crashed(`the ${project} tests made no report`))
  // A run can fail outside of any test: an error between tests, or a failed setup.
  return code !== 0 && outcome.failed === 0 ? { ...outcome, failed: 1 } : outcome
}

interface PytestRun {
  python: string
  env: NodeJS.ProcessEnv
  folders?: string[]
}

/** Runs pytest on these folders, or on those of its settings. Counts come from its JUnit report. */
export async function runPytest(suite: SuiteContext, { python, env, folders = [] }: PytestRun): Promise<Outcome> {
  const report = path.join(suite.reports, `${suite.name}.xml`)
  const args = ['-m', 'pytest', '-q', `--junitxml=${report}`, ...folders]
  const code = await runCommand({ program: python, args, cwd: trainer, env, prefix: suite.name })
  const outcome = await readJunit(report, 'trainer').catch(() => crashed('pytest made no report'))
  return code !== 0 && outcome.failed === 0 ? { ...outcome, failed: 1 } : outcome
}

/**
 * Runs lanes of suites at the same time. The suites of a lane run one after the other. The last line is the sum. A
 * suite that throws counts as a failure.
 */
export async function runSuites(lanes: readonly Suite[][]): Promise<void> {
  console.log(`random tests have the seed ${ensureSeed()}`)
  const reports = await mkdtemp(path.join(tmpdir(), 'trainyard-test-'))
  const finished: FinishedSuite[] = []
  const runLane = async (lane: Suite[]) => {
    for (const suite of lane) finished.push(await runSuite(suite, reports))
  }
  await Promise.all(lanes.map(runLane))
  await rm(reports, { recursive: true })
  printSummary(finished)
  process.exitCode = finished.some(({ outcome }) => outcome.failed > 0) ? 1 : 0
}

async function runSuite({ name, run }: Suite, reports: string): Promise<FinishedSuite> {
  console.log(`${name} | begins`)
  const started = performance.now()
  const outcome = await run({ name, reports }).catch((error: unknown) => crashed(`${name}: ${String(error)}`))
  const seconds = (performance.now() - started) / 1000
  console.log(`${name} | ${outcome.passed} passed, ${outcome.failed} failed in ${Math.round(seconds)} s`)
  return { name, seconds, outcome }
}
