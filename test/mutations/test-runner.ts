import { spawn } from 'node:child_process'
import { open, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { readLocalConfig } from '../../local/config.ts'
import { installTrainerEnvironment } from '../../local/install/python-environment.ts'
import { Board } from '../../local/terminal/board.ts'
import { runningStack } from '../support/cluster-setup.ts'
import { installS3Server } from '../support/s3-build.ts'
import { readJunitCounts, readVitestCounts, type Counts } from './test-report.ts'

// Longer than any test file takes, even when each of its tests reaches its own time limit.
const fileTimeoutMs = 600_000

interface TestCommand {
  command: string
  args: string[]
  folder: string
  env: NodeJS.ProcessEnv
}

/** Runs test files of a copy of the checkout. Their output goes to a file in the copy. */
export class TestRunner {
  readonly #root: string
  readonly #report: string

  constructor(root: string) {
    this.#root = root
    this.#report = path.join(root, 'report')
  }

  /** Returns those of the test files that pass. They have a common set-up. */
  async findPassing(files: string[]): Promise<string[]> {
    const counts = await this.#run(files, [])
    return [...(counts ?? [])].flatMap(([file, { passed, failed }]) => (passed > 0 && failed === 0 ? [file] : []))
  }

  /**
   * Whether a test of the file fails. A file that hangs fails. One that cannot run does not. With the handle of a running
   * stack it uses that one, whose own pods run other code.
   */
  async fails(test: string, stackFile?: string): Promise<boolean> {
    const env = stackFile === undefined ? {} : { [runningStack]: stackFile }
    const counts = await this.#run([test], [test.endsWith('.py') ? '--exitfirst' : '--bail=1'], env)
    return counts === undefined || (counts.get(test)?.failed ?? 0) > 0
  }

  /** Counts the results by file. Undefined if the run hangs. */
  async #run(tests: string[], options: string[], env = {}): Promise<Map<string, Counts> | undefined> {
    await rm(this.#report, { force: true })
    const isPython = tests[0]!.endsWith('.py')
    const command = isPython ? await buildPytest(tests, this.#report) : buildVitest(tests, this.#report)
    command.args.push(...options)
    command.env = { ...command.env, ...env }
    if (!(await this.#execute(command, fileTimeoutMs * tests.length))) return undefined
    const report = await readFile(this.#report, 'utf8').catch(() => '')
    if (report === '') return new Map()
    return isPython ? readJunitCounts(report, 'trainer') : readVitestCounts(report, this.#root)
  }

  /** False if it was killed. */
  async #execute({ command, args, folder, env }: TestCommand, timeoutMs: number): Promise<boolean> {
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

// A stack starts once for so many files.
const maxFiles = 20

/** Groups test files with a common set-up: it takes most of the time. */
export function groupBySetUp(tests: Iterable<string>): string[][] {
  const groups = [...Map.groupBy(tests, nameSetUp).values()]
  return groups.flatMap((files) => {
    const count = Math.ceil(files.length / maxFiles)
    return Array.from({ length: count }, (_, group) => files.filter((_file, index) => index % count === group))
  })
}

/** The folder of tests with a stack names their project. Of the others, only the language matters. */
function nameSetUp(test: string): string {
  return test.startsWith('test/') ? path.dirname(test) : path.extname(test)
}

function buildVitest(tests: string[], report: string): TestCommand {
  const args = ['run', '--reporter=json', `--outputFile=${report}`, ...tests]
  return { command: 'vitest', args, folder: '.', env: {} }
}

async function buildPytest(tests: string[], report: string): Promise<TestCommand> {
  const { signal } = new AbortController()
  const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
  const files = tests.map((test) => path.relative('trainer', test))
  const env = { TRAINYARD_TEST_S3_SERVER: await installS3Server() }
  return { command: python, args: ['-m', 'pytest', '-q', `--junitxml=${report}`, ...files], folder: 'trainer', env }
}
