import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { install } from '../../../local/install/install.ts'
import { Board } from '../../../local/terminal/board.ts'
import { findLaunchOptions } from '../chromium.ts'
import type { Outcome } from '../reports.ts'
import { installS3Server } from '../s3-build.ts'
import type { Suite, SuiteContext } from '../suite.ts'
import { runPytest, runVitest } from '../suites.ts'
import { findNetwork } from './network.ts'
import { fileGroups } from './file-groups.ts'

const enter = [process.execPath, path.join(import.meta.dirname, 'enter.ts')]

/** Some tests of each project, on a machine that differs from that of CI. */
export const otherMachineSuites: readonly Suite[] = Object.entries(fileGroups).map(([project, files]) => ({
  name: `other-machine-${project}`,
  run: (suite) => runThere(suite, project, files),
}))

async function runThere(suite: SuiteContext, project: string, files: readonly string[]): Promise<Outcome> {
  // Its network reaches nothing that could be installed from.
  const { signal } = new AbortController()
  const { python } = await install({ config: readLocalConfig(), board: new Board(), signal })
  await findLaunchOptions()
  const env = { TRAINYARD_TEST_S3_SERVER: await installS3Server() }
  const network = await findNetwork()
  const through = [...network.through, ...enter]
  const paths = files.map((file) => path.relative('trainer', file))
  const outcome = await (project === 'python'
    ? runPytest(suite, { python: python.python, env, paths, through })
    : runVitest(suite, { project, files: [...files], env, through }))
  return network.obstacle === undefined
    ? outcome
    : { ...outcome, skipped: [...outcome.skipped, `${suite.name} without IPv6: ${network.obstacle}`] }
}
