import type { LocalConfig } from '../config.ts'
import { withLock } from '../entry/lock.mjs'
import { install, type Installation } from '../install/install.ts'
import { defaultPort } from '../preflight/requirements.mjs'
import type { Board } from '../terminal/board.ts'
import { bringUp, findRunningStack } from './bring-up.ts'
import type { StackEnv } from './env-file.ts'
import { layoutOf } from './layout.ts'
import { endLeftovers } from './processes/leftovers.ts'
import { readSettings, requireFreePort } from './settings.ts'
import { findRunningSupervisor } from './processes/supervisor-record.ts'

/** A running stack, and its installed programs. */
export interface RunningStack {
  env: StackEnv
  installation: Installation
  /** Whether it was up before. */
  found: boolean
}

/**
 * Installs what is missing and brings up this configuration's stack, unless it is up. Returns when all of it works. If
 * two commands do this for one state folder, the second waits for the first.
 */
export async function ensureUp(config: LocalConfig, board: Board, signal: AbortSignal): Promise<RunningStack> {
  const onWait = () => board.say('Another command is starting this stack; waiting for it.')
  return withLock(`start ${config.stateFolder}`, () => ensureUpAlone(config, board, signal), { signal, onWait })
}

async function ensureUpAlone(config: LocalConfig, board: Board, signal: AbortSignal): Promise<RunningStack> {
  const { stateFolder, port } = config
  if (!findRunningSupervisor(layoutOf(stateFolder))) await prepareStart(config, board)
  const installation = await install({ config, board, signal })
  const env = await findRunningStack(stateFolder)
  if (env) return { env, installation, found: true }
  const fresh = await bringUp({ config, installation, stateFolder, port, board, signal })
  return { env: fresh, installation, found: false }
}

/** Ends leftover processes and checks the public port. This comes before the installation, which takes long. */
async function prepareStart({ stateFolder, port }: LocalConfig, board: Board): Promise<void> {
  const leftovers = await endLeftovers(layoutOf(stateFolder))
  if (leftovers > 0) board.say(`Ended ${leftovers} processes of a run that crashed.`)
  if (port !== 0) await requireFreePort(port ?? readSettings(stateFolder)?.ports.public ?? defaultPort)
}
