import path from 'node:path'
import { readLocalConfig } from '../local/config.ts'
import { installTrainerEnvironment } from '../local/install/python-environment.ts'
import { Board } from '../local/terminal/board.ts'
import { runChecks } from './check.ts'
import { runOnNode } from './kubelet.ts'
import { kubernetesVersions } from './kubernetes-versions.ts'
import { postgresVersions } from './postgres.ts'
import { checkRoles } from './roles.ts'
import { ensurePeersPython, listArtFolders, peersEnv } from './support/client-python.ts'
import { withMachine } from './support/images/machine-lock.ts'
import { auditLogs } from './support/kubernetes-calls.ts'
import { otherMachineSuites } from './support/other-machine/suites.ts'
import { isNightly } from './support/random-cases.ts'
import { noTests, type Outcome } from './support/reports.ts'
import { runCommand } from './support/run-command.ts'
import { installS3Server } from './support/s3-server.ts'
import { runPytest, runVitest, trainer, type Suite, type SuiteContext } from './support/suites.ts'

const root = path.dirname(import.meta.dirname)

const vitest = (project: string): Suite => ({
  name: project,
  isVitest: true,
  run: (suite) => runVitest(suite, { project }),
})

/** A program that tests by itself, and counts as one test. */
const program = (name: string, file: string): Suite => ({
  name,
  run: async () => {
    const code = await runCommand({
      program: process.execPath,
      args: [path.join('test', file)],
      cwd: root,
      prefix: name,
    })
    const failures = code === 0 ? [] : [`${name}: test/${file} ended with the code ${code}`]
    return { ...noTests(), passed: 1 - failures.length, failed: failures.length, failures }
  },
})

/** Lints, type-checks and tests the Python packages; each check counts as one. */
async function runPython(suite: SuiteContext): Promise<Outcome> {
  const signal = new AbortController().signal
  const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
  const lints: [string, ...string[]][] = [
    [python, '-m', 'ruff', 'check', '.'],
    [python, '-m', 'ruff', 'format', '--check', '.'],
    [path.join(root, 'node_modules/.bin/pyright'), '--pythonpath', python],
  ]
  let lintFailures = 0
  for (const [command, ...args] of lints)
    if ((await runCommand({ program: command, args, cwd: trainer, prefix: suite.name })) !== 0) lintFailures++
  // The tests of the artifact store start it.
  const env = { TRAINYARD_TEST_S3_SERVER: await installS3Server() }
  const paths = isNightly() ? [] : ['--ignore-glob=*_nightly_test.py']
  const outcome = await runPytest(suite, { python, env, paths })
  const passed = outcome.passed + lints.length - lintFailures
  return { ...outcome, passed, failed: outcome.failed + lintFailures }
}

/** Compares the trainer with other trainers, in an environment that contains them. */
async function runOracles(suite: SuiteContext): Promise<Outcome> {
  // The newest ART needs Python 3.12, and neither the search path nor pyenv may have one.
  if (!(await listArtFolders()).includes('art'))
    return { ...noTests(), skipped: ['the comparison with other trainers: it needs Python 3.12 or newer'] }
  return runPytest(suite, { python: await ensurePeersPython(), env: peersEnv, paths: ['peers'] })
}

/**
 * The suites of `npm test`, in lanes that run side by side. The longest have a lane each. A lane computes while others wait for
 * Kubernetes, an engine or killed parts.
 */
export const lanes: readonly Suite[][] = [
  [vitest('engine')],
  [vitest('db'), vitest('api'), vitest('cluster')],
  [
    { name: 'checks', run: async () => ({ ...noTests(), ...(await runChecks(root)) }) },
    vitest('unit'),
    vitest('browser'),
    vitest('store'),
    vitest('faults'),
  ],
  [
    { name: 'python', run: runPython },
    { name: 'oracles', run: runOracles },
  ],
]

/** Compares the calls of all suites before it with the Roles of the chart. */
export const roles: Suite = { name: 'roles', run: () => checkRoles(auditLogs()) }

/** The suites that only `npm run test:nightly` has, one after the other: slow, and rarely the first to tell. */
export const nightlySuites: readonly Suite[] = [
  vitest('hostile'),
  program('mutations', 'mutations.ts'),
  program('dashboard', 'dashboard.ts'),
  vitest('backup'),
  vitest('helm'),
  vitest('rollout'),
  ...postgresVersions,
  ...kubernetesVersions,
  vitest('kueue'),
  { name: 'images', run: (suite) => withMachine(() => runVitest(suite, { project: 'images' })) },
  { name: 'kubelet', run: runOnNode },
  ...otherMachineSuites,
]
