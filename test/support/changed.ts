import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Suite } from './suite.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..', '..')

const control = ['apiserver', 'artifacts', 'crds', 'db', 'helm', 'lib', 'local', 'operator', 'package-lock.json']

/**
 * What the processes of a suite consist of. A change there runs the whole suite. All others are tests in one process, and
 * vitest finds those that import a changed file; SQL, YAML and the chart count as everything (`forceRerunTriggers`).
 */
const processes: Readonly<Record<string, readonly string[]>> = {
  checks: [''],
  cluster: control,
  faults: control,
  browser: [...control, 'console'],
  engine: [...control, 'trainer', 'models'],
  python: ['trainer', 'crds'],
  oracles: ['trainer'],
}

/** The suites that the commits since `base` and the work tree may have changed, each with no more than what it must run. */
export async function chooseByChange(suites: readonly Suite[], base: string): Promise<Suite[]> {
  const changed = await listChanged(base)
  return suites.flatMap((suite) => {
    const isWhole = processes[suite.name]?.some((folder) => changed.some((file) => file.startsWith(folder)))
    if (isWhole) return [suite]
    return suite.isVitest ? [{ ...suite, run: (context) => suite.run({ ...context, changedSince: base }) }] : []
  })
}

async function listChanged(base: string): Promise<string[]> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.split('\n')
  const files = [
    ...(await git('diff', '--name-only', base)),
    ...(await git('ls-files', '--others', '--exclude-standard')),
  ]
  return files.filter((file) => file !== '')
}
