import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..', '..')
export const trainer = path.join(root, 'trainer')

/** How tests went, by their own reports. */
export interface Outcome {
  passed: number
  failed: number
  skipped: string[]
}

const crashed = (why: string): Outcome => {
  console.error(`✗ ${why}`)
  return { passed: 0, failed: 1, skipped: [] }
}

interface VitestRun {
  project: string
  /** A folder for reports. */
  reports: string
  /** All of the project's files where none are named. */
  files?: string[]
  env?: NodeJS.ProcessEnv
}

/** Runs one vitest project; its counts come from its own report. */
export async function runVitest({ project, reports, files = [], env = {} }: VitestRun): Promise<Outcome> {
  const report = path.join(reports, `${project}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const args = ['run', '--project', project, ...reporters, ...files]
  const code = await runCommand(path.join(root, 'node_modules/.bin/vitest'), args, root, env)
  const outcome = await readVitestReport(report).catch(() => crashed(`the ${project} tests made no report`))
  // A run can fail outside of any test: an error between tests, a setup that threw.
  return code !== 0 && outcome.failed === 0 ? { ...outcome, failed: 1 } : outcome
}

async function readVitestReport(file: string): Promise<Outcome> {
  const report = JSON.parse(await readFile(file, 'utf8')) as {
    numPassedTests: number
    numFailedTests: number
    testResults: { status: string; assertionResults: { status: string; fullName: string }[] }[]
  }
  const brokenFiles = report.testResults.filter(
    (result) => result.status === 'failed' && result.assertionResults.every((test) => test.status !== 'failed'),
  )
  const skipped = report.testResults.flatMap((result) =>
    result.assertionResults.filter((test) => test.status === 'skipped'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    skipped: skipped.map((test) => test.fullName),
  }
}

interface PytestRun {
  report: string
  env: NodeJS.ProcessEnv
  folders?: string[]
}

/** Runs pytest on folders, or on those that its settings name; counts come from its JUnit report. */
export async function runPytest(python: string, { report, env, folders = [] }: PytestRun): Promise<Outcome> {
  const code = await runCommand(python, ['-m', 'pytest', '-q', `--junitxml=${report}`, ...folders], trainer, env)
  const outcome = await readJunit(report).catch(() => crashed('pytest made no report'))
  return code !== 0 && outcome.failed === 0 ? { ...outcome, failed: 1 } : outcome
}

async function readJunit(file: string): Promise<Outcome> {
  const xml = await readFile(file, 'utf8')
  const count = (name: string) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(xml)?.[1])
  const failed = count('failures') + count('errors')
  const skipped = [...xml.matchAll(/<testcase [^>]*name="([^"]*)"[^>]*><skipped [^>]*message="([^"]*)"/g)]
  return {
    passed: count('tests') - failed - count('skipped'),
    failed,
    skipped: skipped.map(([, name, reason]) => `${name}: ${reason}`),
  }
}

export function runCommand(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

/** Runs suites one after the other, and prints their sum in the last line; one that throws counts as a failure. */
export async function runSuites(suites: [string, (reports: string) => Promise<Outcome> | Outcome][]): Promise<void> {
  const reports = await mkdtemp(path.join(tmpdir(), 'trainyard-test-'))
  const total: Outcome = { passed: 0, failed: 0, skipped: [] }
  for (const [name, run] of suites) {
    console.log(`\n== ${name}`)
    const outcome = await Promise.resolve(run(reports)).catch((error: unknown) => crashed(`${name}: ${String(error)}`))
    total.passed += outcome.passed
    total.failed += outcome.failed
    total.skipped.push(...outcome.skipped)
  }
  await rm(reports, { recursive: true })
  for (const skip of total.skipped) console.log(`skipped: ${skip}`)
  console.log(`\n${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed > 0 ? 1 : 0
}
