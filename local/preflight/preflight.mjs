import os from 'node:os'
import path from 'node:path'
import { listFaults } from './faults.mjs'
import { observeForStack, observeSystem } from './observe.mjs'

const startsAStack = new Set(['demo', 'up', 'test', 'test:hostile', 'test:mutations', 'test:gpu', 'bench'])
/** Tests take free ports. */
const hasPublicPort = new Set(['demo', 'up'])

/**
 * Looks at all that the machine can lack for a command, before anything is downloaded.
 *
 * @returns a sentence for each lack, which says what to do
 */
export async function runPreflight(repository, [command, ...args], env) {
  const system = observeSystem({ repository })
  if (!startsAStack.has(command) || system.platform !== 'linux') return listFaults(system)
  const stack = await observeForStack({ repository, ...readSettings(command, args, env), env })
  return listFaults({
    ...system,
    ...stack,
    folders: [...(system.folders ?? []), ...stack.folders],
    disks: [...(system.disks ?? []), ...stack.disks],
  })
}

/** The folders and the port that the command will use. `local/config.ts` reads the same variables. */
function readSettings(command, args, env) {
  const caches = env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache')
  return {
    cache: path.resolve(env.TRAINYARD_CACHE || path.join(caches, 'trainyard')),
    state: path.resolve(env.TRAINYARD_STATE || '.trainyard'),
    port: hasPublicPort.has(command) ? readPort(args, env) : 0,
  }
}

/** The port that the user asks for. */
function readPort(args, env) {
  const asked = /--port[= ](\S+)/.exec(args.join(' '))?.[1] ?? env.TRAINYARD_PORT
  return asked ? Number(asked) : undefined
}
