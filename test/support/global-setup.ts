import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { readLocalConfig } from '../../local/config.ts'
import { ensureUp } from '../../local/stack/ensure-up.ts'
import { layoutOf } from '../../local/stack/layout.ts'
import { databaseUrl } from '../../local/stack/programs/postgres.ts'
import { readSettings } from '../../local/stack/settings.ts'
import { stopMachinery } from '../../local/stack/stop.ts'
import { Board } from '../../local/terminal/board.ts'
import type { ApiStack } from './services.ts'
import { createTemplateDatabase } from './template-database.ts'

/** The addresses and paths of the tests' stack. */
export interface StackHandle extends ApiStack {
  stateFolder: string
  kubectlPath: string
  helmPath: string
}

// The tests' servers listen on loopback.
const outbound = {
  dataHosts: ['127.0.0.1:*', 'http://127.0.0.1:*', 's3://test-data'],
  webhookHosts: ['*:*', 'http://127.0.0.1:*'],
  privateNetworks: ['127.0.0.0/8'],
}

/** Brings up a stack for all test files, on free ports and in a new folder. Ends it after them. */
export default function setUp(project: TestProject): Promise<() => Promise<void>> {
  return setUpStack(project, { withPods: true })
}

/** Gives the stack to the test files of a project. */
export function provideStack(project: TestProject, handle: StackHandle): void {
  project.provide('stack', handle)
  project.provide('services', handle)
}

/** Brings up a stack with or without engines and trainers, which take most of the start's time and memory. */
export async function setUpStack(project: TestProject, { withPods }: { withPods: boolean }) {
  const { handle, tearDown } = await bringUpStack(withPods)
  provideStack(project, handle)
  return tearDown
}

// A second operator waits for the Lease, as in an installation that is to survive a node: 160 MB and no time.
const operators = 2

/** Brings up a stack outside of a test run. */
export async function bringUpStack(withPods: boolean): Promise<{ handle: StackHandle; tearDown: () => Promise<void> }> {
  const stateFolder = await mkdtemp(path.join(tmpdir(), 'trainyard-test-'))
  await chmod(stateFolder, 0o755) // Postgres runs as another user when we are root.
  const config = { ...readLocalConfig(), stateFolder, port: 0, withPods, operators, outbound }
  const tearDown = async () => {
    await stopMachinery(stateFolder)
    await rm(stateFolder, { recursive: true, force: true })
  }
  try {
    const { env, installation } = await ensureUp(config, new Board(), new AbortController().signal)
    const layout = layoutOf(stateFolder)
    const handle = {
      url: env.TRAINYARD_URL,
      apiKey: env.TRAINYARD_API_KEY,
      baseModel: env.TRAINYARD_BASE_MODEL,
      kubeconfig: env.KUBECONFIG,
      databaseUrl: databaseUrl(readSettings(stateFolder)!),
      artifacts: layout.artifacts,
      stateFolder,
      kubectlPath: installation.controlPlane.kubectl,
      helmPath: installation.controlPlane.helm,
    }
    await createTemplateDatabase(handle.databaseUrl)
    return { handle, tearDown }
  } catch (error) {
    await tearDown()
    throw error
  }
}
