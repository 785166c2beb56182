import type { Board } from '../terminal/board.ts'
import { createApiKey, defaultEntity, isKnownKey, withDatabase } from './api-key.ts'
import { applyChart } from './cluster/chart.ts'
import { readStackEnv, writeStackEnv, type StackEnv } from './env-file.ts'
import { layoutOf } from './layout.ts'
import { databaseUrl } from './programs/postgres.ts'
import type { StackSettings } from './settings.ts'
import type { StartRequest } from './prepare.ts'
import { joinMachinery, startMachinery } from './start.ts'
import { stopMachinery } from './stop.ts'
import { findRunningSupervisor, type SupervisorRecord } from './processes/supervisor-record.ts'
import { isServing, waitUntilServing } from './cluster/system-check.ts'

export type BringUpRequest = Omit<StartRequest, 'phase'> & { board: Board }

/** The base model of every new stack. */
export const baseModel = 'trainyard/tiny-chat'

/**
 * Brings up a whole stack: programs, resources and the first key. Waits until the service reports that all parts work.
 * After a failure or an interruption, it stops what it has started. Data stays. It joins programs that already run.
 */
export async function bringUp(request: BringUpRequest): Promise<StackEnv> {
  const running = findRunningSupervisor(layoutOf(request.stateFolder))
  try {
    return await startAndDeploy(request, running)
  } catch (error) {
    if (running) throw error
    await request.board.run('stopping what was started', () => stopMachinery(request.stateFolder), { quietMs: 1_000 })
    throw error
  }
}

async function startAndDeploy(request: BringUpRequest, running: SupervisorRecord | undefined): Promise<StackEnv> {
  const { board, config, installation, stateFolder, signal } = request
  const settings = await board.run('starting Kubernetes and Postgres', (phase) =>
    running ? joinMachinery({ stateFolder, phase, signal }, running) : startMachinery({ ...request, phase }),
  )
  const { controlPlane } = installation
  const { repository, withPods, operators, outbound, accelerator } = config
  const chart = { repository, stateFolder, controlPlane, settings, withPods, operators, outbound, accelerator, signal }
  const kubectl = { kubectl: controlPlane.kubectl, stateFolder, signal }
  await board.run('installing Trainyard into it', async (phase) => {
    phase.update('database and key')
    writeStackEnv(stateFolder, await buildStackEnv(stateFolder, settings))
    phase.update('chart')
    await applyChart(chart)
  })
  const env = readStackEnv(stateFolder)!
  await board.run('waiting until all parts work', (phase) => waitUntilServing(env, { kubectl, phase, withPods }))
  return env
}

/** The current addresses, with the previous key if the database still knows it. */
async function buildStackEnv(stateFolder: string, settings: StackSettings): Promise<StackEnv> {
  const earlier = readStackEnv(stateFolder)?.TRAINYARD_API_KEY
  const key = await withDatabase(databaseUrl(settings), async (pool) =>
    earlier && (await isKnownKey(pool, earlier)) ? earlier : createApiKey(pool, defaultEntity),
  )
  return {
    TRAINYARD_URL: `http://127.0.0.1:${settings.ports.public}`,
    TRAINYARD_API_KEY: key,
    TRAINYARD_BASE_MODEL: baseModel,
    KUBECONFIG: layoutOf(stateFolder).kubeconfig,
  }
}

/** The stack's addresses if it is up and all of it works. */
export async function findRunningStack(stateFolder: string): Promise<StackEnv | undefined> {
  const env = readStackEnv(stateFolder)
  if (!env || !findRunningSupervisor(layoutOf(stateFolder))) return undefined
  return (await isServing(env)) ? env : undefined
}
