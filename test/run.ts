import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readLocalConfig } from '../local/config.ts'
import { installTrainerEnvironment } from '../local/install/python-environment.ts'
import { Board } from '../local/terminal/board.ts'
import { runChecks } from './check.ts'
import { ensurePeersPython } from './support/client-python.ts'
import { installS3Server } from './support/s3-build.ts'

const root = path.dirname(import.meta.dirname)
const trainer = path.join(root, 'trainer')

interface Outcome {
  passed: number
  failed: number
  skipped: string[]
}

const crashed = (why: string): Outcome => {
  console.error(`✗ ${why}`)
  return { passed: 0, failed: 1, skipped: [] }
}

/** Runs one vitest project; its counts come from its own report. */
async function runVitest(project: string, reports: string): Promise<Outcome> {
  const report = path.join(reports, `${project}.json`)
  const args = ['run', '--project', project, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const code = await runCommand(path.join(root, 'node_modules/.bin/vitest'), args, root)
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

/** Lints and tests the Python package; each lint counts as one. */
async function runPython(reports: string): Promise<Outcome> {
  const signal = new AbortController().signal
  const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
  const lints = [
    await runCommand(python, ['-m', 'ruff', 'check', '.'], trainer),
    await runCommand(python, ['-m', 'ruff', 'format', '--check', '.'], trainer),
  ]
  // The tests of the artifact store start it.
  const env = { TRAINYARD_TEST_S3_SERVER: await installS3Server() }
  const outcome = await runPytest(python, { report: path.join(reports, 'pytest.xml'), env })
  const lintFaults = lints.filter((lint) => lint !== 0).length
  const passed = outcome.passed + lints.length - lintFaults
  return { ...outcome, passed, failed: outcome.failed + lintFaults }
}

/** Compares the trainer with other trainers, in an environment that has them; none of them may reach for the network. */
async function runOracles(reports: string): Promise<Outcome> {
  const env = { HF_HUB_OFFLINE: '1', LITELLM_LOCAL_MODEL_COST_MAP: 'True', WANDB_API_KEY: undefined }
  const report = path.join(reports, 'oracles.xml')
  return runPytest(await ensurePeersPython(), { report, env, folders: ['peers'] })
}

interface PytestRun {
  report: string
  env: NodeJS.ProcessEnv
  folders?: string[]
}

/** Runs pytest on folders, or on those that its settings name; counts come from its JUnit report. */
async function runPytest(python: string, { report, env, folders = [] }: PytestRun): Promise<Outcome> {
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

function runCommand(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<number> {
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

async function main(): Promise<void> {
  const reports = await mkdtemp(path.join(tmpdir(), 'trainyard-test-'))
  const suites: [string, () => Promise<Outcome> | Outcome][] = [
    ['checks', () => ({ ...runChecks(root), skipped: [] })],
    ['unit tests', () => runVitest('unit', reports)],
    ['artifact store tests', () => runVitest('store', reports)],
    ['Python tests', () => runPython(reports)],
    ['oracle tests', () => runOracles(reports)],
    ['control tests', () => runVitest('control', reports)],
    ['integration and client tests', () => runVitest('integration', reports)],
  ]
  const total: Outcome = { passed: 0, failed: 0, skipped: [] }
  for (const [name, run] of suites) {
    console.log(`\n== ${name}`)
    const outcome = await Promise.resolve(run()).catch((error: unknown) => crashed(`${name}: ${String(error)}`))
    total.passed += outcome.passed
    total.failed += outcome.failed
    total.skipped.push(...outcome.skipped)
  }
  await rm(reports, { recursive: true })
  for (const skip of total.skipped) console.log(`skipped: ${skip}`)
  console.log(`\n${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed > 0 ? 1 : 0
}

await main()
