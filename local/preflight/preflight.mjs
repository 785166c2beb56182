import os from 'node:os'
import path from 'node:path'
import { listErrors } from './errors.mjs'
import { observeForStack, observeSystem } from './observe.mjs'

/**
 * Checks everything that the machine can lack for a command, before anything is downloaded.
 *
 * @returns a sentence for each lack, which says what to do
 */
export async function runPreflight(repository, { startsAStack, hasPublicPort, args, env }) {
  const system = observeSystem({ repository })
  if (!startsAStack || system.platform !== 'linux') return listErrors(system)
  const stack = await observeForStack({
    repository,
    ...readFolders(env),
    port: hasPublicPort ? readPort(args, env) : 0,
    env,
  })
  return listErrors({
    ...system,
    ...stack,
    folders: [...(system.folders ?? []), ...stack.folders],
    disks: [...(system.disks ?? []), ...stack.disks],
  })
}

/** The folders that the command will use. `local/config.ts` reads the same variables. */
function readFolders(env) {
  const caches = env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache')
  return {
    cache: path.resolve(env.TRAINYARD_CACHE || path.join(caches, 'trainyard')),
    state: path.resolve(env.TRAINYARD_STATE || '.trainyard'),
  }
}

/** The port that the user set. */
function readPort(args, env) {
  const asked = /--port[= ](\S+)/.exec(args.join(' '))?.[1] ?? env.TRAINYARD_PORT
  return asked ? Number(asked) : undefined
}
