import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { withMachine } from './support/images/machine-lock.ts'
import { findObstacle, tryNamespaces } from './support/kubelet/obstacles.ts'
import { makeNodeParts, shareParts } from './support/kubelet/parts.ts'
import { installRuntime } from './support/kubelet/runtime.ts'
import { noTests } from './support/reports.ts'
import { runVitest, type SuiteContext } from './support/suites.ts'

// The node and its tests share a network namespace, which reaches nothing outside.
const ownNetwork = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']

/** Runs the tests of a real kubelet, where this machine can have one. */
export async function runOnNode(suite: SuiteContext) {
  const obstacle = (await findObstacle()) ?? (await tryNamespaces(await installRuntime()))
  if (obstacle === undefined) return withMachine(() => runTests(suite))
  return { ...noTests(), skipped: [`A real kubelet cannot run on this machine. ${obstacle}`] }
}

async function runTests(suite: SuiteContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-parts-'))
  try {
    const env = await shareParts(await makeNodeParts(), path.join(folder, 'parts.json'))
    return await runVitest(suite, { project: 'kubelet', env, through: ownNetwork })
  } finally {
    await rm(folder, { recursive: true })
  }
}
