import path from 'node:path'
import { readLocalConfig } from '../local/config.ts'
import { installTrainerEnvironment } from '../local/install/python-environment.ts'
import { Board } from '../local/terminal/board.ts'
import { runChecks } from './check.ts'
import { ensurePeersPython } from './support/client-python.ts'
import { installS3Server } from './support/s3-build.ts'
import { runCommand, runPytest, runSuites, runVitest, trainer, type Outcome } from './support/suites.ts'

const root = path.dirname(import.meta.dirname)

/** Lints, type-checks and tests the Python packages; each check counts as one. */
async function runPython(reports: string): Promise<Outcome> {
  const signal = new AbortController().signal
  const { python } = await installTrainerEnvironment({ config: readLocalConfig(), board: new Board(), signal })
  const lints = [
    await runCommand(python, ['-m', 'ruff', 'check', '.'], trainer),
    await runCommand(python, ['-m', 'ruff', 'format', '--check', '.'], trainer),
    await runCommand(path.join(root, 'node_modules/.bin/pyright'), ['--pythonpath', python], trainer),
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

await runSuites([
  ['checks', () => ({ ...runChecks(root), skipped: [] })],
  ['unit tests', (reports) => runVitest({ project: 'unit', reports })],
  ['artifact store tests', (reports) => runVitest({ project: 'store', reports })],
  ['Python tests', runPython],
  ['oracle tests', runOracles],
  ['control tests', (reports) => runVitest({ project: 'control', reports })],
  ['tests of faults', (reports) => runVitest({ project: 'faults', reports })],
  ['integration and client tests', (reports) => runVitest({ project: 'integration', reports })],
])
