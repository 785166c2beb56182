import { spawnSync } from 'node:child_process'
import path from 'node:path'

/** What `npm run check` holds the tree to, each by the tool that knows it. */
const checks: readonly { name: string; command: readonly [string, ...string[]] }[] = [
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'format', command: ['oxfmt', '--check', '.'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'generated files', command: ['node', 'crds/generate.ts', '--check'] },
  { name: 'layers', command: ['node', 'test/layers.ts'] },
  { name: 'words of the glossary', command: ['node', 'test/words.ts'] },
  { name: 'third-party notices', command: ['node', 'test/notices.ts', '--check'] },
]

/** Runs all checks, prints a line for each and the output of those that fail. */
export function runChecks(root: string): { passed: number; failed: number } {
  const bin = path.join(root, 'node_modules', '.bin')
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` }
  let failed = 0
  for (const { name, command } of checks) {
    const [program, ...args] = command
    const started = performance.now()
    const result = spawnSync(program, args, { cwd: root, env, encoding: 'utf8' })
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    const passed = result.status === 0
    console.log(`${passed ? '✓' : '✗'} ${name.padEnd(22)} ${seconds} s`)
    if (passed) continue
    failed++
    console.log(result.error?.message ?? `${result.stdout}${result.stderr}`)
  }
  return { passed: checks.length - failed, failed }
}

if (import.meta.main) {
  const { failed } = runChecks(path.dirname(import.meta.dirname))
  process.exitCode = failed > 0 ? 1 : 0
}
