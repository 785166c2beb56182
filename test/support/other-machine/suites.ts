import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { install } from '../../../local/install/install.ts'
import { Board } from '../../../local/terminal/board.ts'
import { findLaunchOptions } from '../chromium.ts'
import { chooseShare } from '../random-cases.ts'
import type { Outcome } from '../reports.ts'
import type { Suite, SuiteContext } from '../suite.ts'
import { runVitest } from '../suites.ts'
import { findNetwork } from './network.ts'
import { fileGroups } from './file-groups.ts'

const enter = [process.execPath, path.join(import.meta.dirname, 'enter.ts')]

/** A share of the tests of each project, on a machine that differs from that of CI. The day, or the seed, chooses it. */
export const otherMachineSuites: readonly Suite[] = Object.entries(fileGroups).map(([project, { files, share }]) => ({
  name: `other-machine-${project}`,
  run: (suite) => runThere(suite, project, chooseShare(files, share)),
}))

async function runThere(suite: SuiteContext, project: string, files: string[]): Promise<Outcome> {
  // Its network reaches nothing that could be installed from.
  const { signal } = new AbortController()
  await install({ config: readLocalConfig(), board: new Board(), signal })
  await findLaunchOptions()
  const network = await findNetwork()
  const through = [...network.through, ...enter]
  const outcome = await runVitest(suite, { project, files, through })
  return network.obstacle === undefined
    ? outcome
    : { ...outcome, skipped: [...outcome.skipped, `${suite.name} without IPv6: ${network.obstacle}`] }
}
