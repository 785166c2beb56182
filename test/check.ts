import { execFile, type ExecFileOptions } from 'node:child_process'
import path from 'node:path'
import { quarantine } from './quarantine.ts'

type Command = readonly [string, ...string[]]

/** The checks of `npm run check`, each with its tool. */
const checks: readonly { name: string; command: Command }[] = [
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'types of the console', command: ['tsc', '-p', 'console'] },
  { name: 'lint', command: ['oxlint', '--type-aware'] },
  { name: 'format', command: ['oxfmt', '--check', '.'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'generated files', command: ['node', 'crds/generate.ts', '--check'] },
  { name: 'API of the console', command: ['node', 'tools/console-types.ts', '--check'] },
  { name: 'layers', command: ['node', 'tools/layers.ts'] },
  { name: 'page of limits', command: ['node', 'tools/limits-page.ts', '--check'] },
  { name: 'page of errors', command: ['node', 'tools/errors-page.ts', '--check'] },
  { name: 'page of metrics', command: ['node', 'tools/metrics-page.ts', '--check'] },
  { name: 'page of resources', command: ['node', 'tools/resources-page.ts', '--check'] },
  { name: 'words of the glossary', command: ['node', 'tools/words.ts'] },
  { name: 'third-party notices', command: ['node', 'tools/notices.ts', '--check'] },
]

/** Runs all checks, prints a line for each and the output of those that fail. */
export async function runChecks(root: string): Promise<{ passed: number; failed: number; failures: string[] }> {
  const bin = path.join(root, 'node_modules', '.bin')
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` }
  const failures: string[] = []
  for (const { name, command } of checks) {
    const started = performance.now()
    const fault = await findFailure(command, { cwd: root, env })
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(`${fault === undefined ? '✓' : '✗'} ${name.padEnd(22)} ${seconds} s`)
    if (fault === undefined) continue
    failures.push(`${name}\n${fault}`)
    console.log(fault)
  }
  for (const { test, since, why } of quarantine) console.log(`in quarantine since ${since}: ${test} (${why})`)
  return { passed: checks.length - failures.length, failed: failures.length, failures }
}

/** Returns the output of a failed command. Undefined if it succeeded. */
function findFailure([program, ...args]: Command, options: ExecFileOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { ...options, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}` || error.message : undefined),
    )
  })
}

if (import.meta.main) {
  const { failed } = await runChecks(path.dirname(import.meta.dirname))
  process.exitCode = failed > 0 ? 1 : 0
}
