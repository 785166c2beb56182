import { accessSync, constants, existsSync, mkdirSync, readdirSync, statfsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const gib = 2 ** 30

/** What must be free, in GiB. Measured: packages 0.7; binaries and Python environment 7, and 5 more while Go builds. */
const needs = { packages: 1.5, installation: 14, state: 1, memory: 6 }

/**
 * Checks Node, the platform, and that the folders can be written; where a stack is to be started also free disk and
 * memory.
 *
 * @throws {Error} with a sentence that says what is missing
 */
export function checkMachine(repository, startsAStack) {
  const major = Number(process.versions.node.split('.')[0])
  if (major < 20) throw new Error(`Trainyard needs Node 20 or newer; this is ${process.version}. Install a newer one.`)
  if (process.platform !== 'linux')
    throw new Error(`Trainyard's local stack runs on Linux; this is ${process.platform}.`)
  if (!existsSync(path.join(repository, 'node_modules'))) {
    checkWritable(repository)
    checkDisk(repository, needs.packages)
  }
  if (startsAStack) checkForStack()
}

function checkForStack() {
  const cache = cacheFolder()
  const state = path.resolve(process.env.TRAINYARD_STATE || '.trainyard')
  for (const folder of [cache, state]) makeWritable(folder)
  checkDisk(state, needs.state)
  if (!isInstalled(cache)) checkDisk(cache, needs.installation)
  checkMemory()
}

/** Where everything that is installed outside of the repository lies. `local/config.ts` names the same folder. */
function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache')
  return path.resolve(process.env.TRAINYARD_CACHE || path.join(base, 'trainyard'))
}

function isInstalled(cache) {
  const environments = path.join(cache, 'python')
  return existsSync(environments) && readdirSync(environments).some((name) => name.endsWith('.complete'))
}

function makeWritable(folder) {
  // Making folders in one go hides the reason (a read-only disk shows as ENOENT), so the first existing one is asked.
  checkWritable(findExisting(folder))
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new Error(`${folder} cannot be made (${error.code}): ${adviceFor(error.code)}`, { cause: error })
  }
  checkWritable(folder)
}

function findExisting(folder) {
  return existsSync(folder) ? folder : findExisting(path.dirname(folder))
}

function checkWritable(folder) {
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw new Error(`${folder} cannot be written to (${error.code}): ${adviceFor(error.code)}`, { cause: error })
  }
}

function adviceFor(code) {
  if (code === 'ENOSPC') return 'free some disk space, then try again.'
  return 'make it writable, or set TRAINYARD_CACHE and TRAINYARD_STATE to folders that are.'
}

function checkDisk(folder, gibNeeded) {
  const { bavail, bsize } = statfsSync(folder)
  const free = (Number(bavail) * Number(bsize)) / gib
  if (free >= gibNeeded) return
  throw new Error(
    `The disk of ${folder} has ${free.toFixed(1)} GiB free, and ${gibNeeded} GiB are needed: free some, ` +
      'or set TRAINYARD_CACHE and TRAINYARD_STATE to folders on a larger disk.',
  )
}

function checkMemory() {
  // availableMemory minds a container's limit; Node 20 before 20.13 lacks it.
  const available = (process.availableMemory?.() ?? os.freemem()) / gib
  if (available >= needs.memory) return
  throw new Error(
    `${available.toFixed(1)} GiB of memory are free, and the stack needs ${needs.memory} GiB (vLLM takes most of it): ` +
      'end some programs, then try again.',
  )
}
