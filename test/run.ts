import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, totalmem } from 'node:os'
import path from 'node:path'
import { readLocalConfig } from '../local/config.ts'
import { installTrainerEnvironment } from '../local/install/python-environment.ts'
import { Board } from '../local/terminal/board.ts'
import { runChecks } from './check.ts'
import { checkRoles } from './roles.ts'
import { ensurePeersPython, listArtFolders, peersEnv } from './support/client-python.ts'
import { findLeftOut } from './support/file-shares.ts'
import { recordKubernetesCalls } from './support/kubernetes-calls.ts'
import { otherMachineSuites } from './support/other-machine/suites.ts'
import { isDeep } from './support/random-cases.ts'
import { noTests, type Outcome } from './support/reports.ts'
import { runCommand } from './support/run-command.ts'
import { installS3Server } from './support/s3-build.ts'
import type { Suite, SuiteContext } from './support/suite.ts'
import { runPytest, runSuites, runVitest, trainer } from './support/suites.ts'

const root = path.dirname(import.meta.dirname)

const leftOut = findLeftOut()
// It needs Python 3.12.
const hasNewestArt = (await listArtFolders()).includes('art')
const vitest = (project: string): Suite => ({ name: project, run: (suite) => runVitest(suite, { project, leftOut }) })

/** Lints, type-checks and tests the Python packages; each check counts as one. */
async function runPython(suite: SuiteContext): Promise<Outcome> {
  const signal = new AbortController().signal
  const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
  const pyright = path.join(root, 'node_modules/.bin/pyright')
  const lints: [string, ...string[]][] =
    suite.files === undefined
      ? [
          [python, '-m', 'ruff', 'check', '.'],
          [python, '-m', 'ruff', 'format', '--check', '.'],
          [pyright, '--pythonpath', python],
        ]
      : []
  let lintFailures = 0
  for (const [program, ...args] of lints)
    if ((await runCommand({ program, args, cwd: trainer, prefix: suite.name })) !== 0) lintFailures++
  // The tests of the artifact store start it.
  const env = { TRAINYARD_TEST_S3_SERVER: await installS3Server() }
  const outcome = await runPytest(suite, { python, env })
  const passed = outcome.passed + lints.length - lintFailures
  return { ...outcome, passed, failed: outcome.failed + lintFailures }
}

/** Compares the trainer with other trainers, in an environment that contains them. */
async function runOracles(suite: SuiteContext): Promise<Outcome> {
  return runPytest(suite, { python: await ensurePeersPython(), env: peersEnv, paths: ['peers'] })
}

// The two longest suites have a lane each. A lane computes while others wait for Kubernetes, an engine or killed parts.
const lanes = [
  [vitest('integration'), ...(isDeep() ? [vitest('hostile')] : [])],
  [vitest('control')],
  [
    { name: 'checks', run: async () => ({ ...noTests(), ...(await runChecks(root)) }) },
    vitest('unit'),
    vitest('console'),
    vitest('browser'),
    vitest('store'),
    vitest('faults'),
    ...otherMachineSuites,
  ],
  [{ name: 'python', run: runPython }, ...(hasNewestArt ? [{ name: 'oracles', run: runOracles }] : [])],
]

// An engine and a trainer take five, the trainer's own tests four, and each of three stacks with its tests two.
const minGibSideBySide = 16
const isRoomy = totalmem() >= minGibSideBySide * 2 ** 30
if (!hasNewestArt)
  console.log('left out: the newest ART, which needs Python 3.12 or newer; neither the search path nor pyenv has one')
for (const file of leftOut) console.log(`left to other runs: ${file}`)
const auditLogs = await mkdtemp(path.join(tmpdir(), 'trainyard-calls-'))
await recordKubernetesCalls(auditLogs)
await runSuites(isRoomy ? lanes : [lanes.flat()], [{ name: 'roles', run: () => checkRoles(auditLogs) }])
await rm(auditLogs, { recursive: true })
