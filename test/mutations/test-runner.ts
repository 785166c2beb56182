import { spawn } from 'node:child_process'
import { open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { installTrainerEnvironment } from '../../local/install/python-environment.ts'
import { Board } from '../../local/terminal/board.ts'
import { installS3Server } from '../support/s3-build.ts'

// Longer than any test file takes, even when each of its tests reaches its own time limit.
const timeoutMs = 600_000

interface TestCommand {
  command: string
  args: string[]
  folder: string
  env: NodeJS.ProcessEnv
}

interface Counts {
  passed: number
  failed: number
}

/** Runs single test files of a copy of the checkout. Their output goes to a file in the copy. */
export class TestRunner {
  readonly #root: string
  /** By test file: whether it passes on the unchanged code. */
  readonly #unchanged = new Map<string, Promise<boolean>>()

  constructor(root: string) {
    this.#root = root
  }

  passesUnchanged(test: string): Promise<boolean> {
    const known = this.#unchanged.get(test) ?? this.run(test).then(({ passed, failed }) => passed > 0 && failed === 0)
    this.#unchanged.set(test, known)
    return known
  }

  /**
   * Counts the passed and failed tests of a file. A file that cannot run counts neither, and one that hangs counts as a
   * failure.
   */
  async run(test: string): Promise<Counts> {
    const report = path.join(this.#root, 'report')
    await rm(report, { force: true })
    const isPython = test.endsWith('.py')
    const hasEnded = await this.#execute(isPython ? await buildPytest(test, report) : buildVitest(test, report))
    if (!hasEnded) return { passed: 0, failed: 1 }
    const text = await readFile(report, 'utf8').catch(() => '')
    return isPython ? countJunit(text) : countVitest(text)
  }

  /** False if it was killed. */
  async #execute({ command, args, folder, env }: TestCommand): Promise<boolean> {
    const log = await open(path.join(this.#root, 'output.log'), 'a')
    const child = spawn(command, args, {
      cwd: path.join(this.#root, folder),
      env: { ...process.env, ...env },
      stdio: ['ignore', log.fd, log.fd],
      timeout: timeoutMs,
    })
    const signal = await new Promise((resolve) => child.once('close', (_code, endedBy) => resolve(endedBy)))
    await log.close()
    return signal === null
  }
}

function buildVitest(test: string, report: string): TestCommand {
  return { command: 'vitest', args: ['run', '--reporter=json', `--outputFile=${report}`, test], folder: '.', env: {} }
}

async function buildPytest(test: string, report: string): Promise<TestCommand> {
  const { signal } = new AbortController()
  const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
  const file = path.relative('trainer', test)
  const env = { TRAINYARD_TEST_S3_SERVER: await installS3Server() }
  return { command: python, args: ['-m', 'pytest', '-q', `--junitxml=${report}`, file], folder: 'trainer', env }
}

function countVitest(report: string): Counts {
  if (report === '') return { passed: 0, failed: 0 }
  const { numPassedTests, numFailedTests } = JSON.parse(report) as { numPassedTests: number; numFailedTests: number }
  return { passed: numPassedTests, failed: numFailedTests }
}

/** An error in a fixture counts as a failure, because the test needs the fixture. */
function countJunit(report: string): Counts {
  const count = (name: string) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(report)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  return { passed: count('tests') - failed - count('skipped'), failed }
}
