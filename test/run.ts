import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, totalmem } from 'node:os'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { recordKubernetesCalls } from './support/kubernetes-calls.ts'
import { isNightly } from './support/random-cases.ts'
import { runSuites, type Suite } from './support/suites.ts'
import { lanes, nightlySuites, roles } from './suites.ts'

// `npm test [-- SUITE...]` runs all suites that are not nightly, or those with these names. `--changed` leaves out what the commits
// since BASE and the work tree cannot have changed.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'boolean', default: false }, base: { type: 'string', default: 'main' } },
})

// An engine and a trainer take five, the trainer's own tests four, and each of three stacks with its tests two.
const minGibSideBySide = 16

/** The lanes that run side by side, and what runs after them. */
async function choose(): Promise<{ sideBySide: readonly Suite[][]; last: Suite[] }> {
  if (positionals.length > 0) return { sideBySide: [positionals.map(findSuite)], last: [] }
  if (values.changed) return { sideBySide: [await chooseByChange(lanes.flat(), values.base)], last: [] }
  const isRoomy = totalmem() >= minGibSideBySide * 2 ** 30
  return { sideBySide: isRoomy ? lanes : [lanes.flat()], last: [roles, ...(isNightly() ? nightlySuites : [])] }
}

function findSuite(name: string): Suite {
  const all = [...lanes.flat(), ...nightlySuites]
  const suite = all.find((each) => each.name === name)
  if (suite) return suite
  throw new Error(`there is no suite "${name}"; there are ${all.map((each) => each.name).join(', ')}`)
}

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
async function chooseByChange(suites: readonly Suite[], base: string): Promise<Suite[]> {
  const changed = await listChanged(base)
  return suites.flatMap((suite) => {
    const isWhole = processes[suite.name]?.some((folder) => changed.some((file) => file.startsWith(folder)))
    if (isWhole) return [suite]
    return suite.isVitest ? [{ ...suite, run: (context) => suite.run({ ...context, changedSince: base }) }] : []
  })
}

async function listChanged(base: string): Promise<string[]> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', args, { cwd: path.dirname(import.meta.dirname) })).stdout.split('\n')
  const files = [
    ...(await git('diff', '--name-only', base)),
    ...(await git('ls-files', '--others', '--exclude-standard')),
  ]
  return files.filter((file) => file !== '')
}

const auditLogs = await mkdtemp(path.join(tmpdir(), 'trainyard-calls-'))
await recordKubernetesCalls(auditLogs)
const { sideBySide, last } = await choose()
await runSuites(sideBySide, last)
await rm(auditLogs, { recursive: true })
