import { existsSync, readFileSync, readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { observeControlPlane } from './control-plane.mjs'
import { canBuild } from './errors.mjs'
import { findExisting, observeDisk, observeFolder } from './folders.mjs'
import { listMarkedPids } from './marked-processes.mjs'
import { describeListener, probePort } from './ports.mjs'
import { findExecutable, observePython, runProgram } from './programs.mjs'
import { defaultPort, diskGib, isServicePort, podPorts } from './requirements.mjs'
import { isReachable, namespaceArguments, unprivilegedUser, unshareFolders } from './unprivileged-user.mjs'

/** Observes what every command needs: the operating system, and the folder of the npm packages. */
export function observeSystem({ repository }) {
  process.report.excludeNetwork = true
  const { glibcVersionRuntime } = process.platform === 'linux' ? process.report.getReport().header : {}
  const facts = { platform: process.platform, arch: process.arch, glibc: glibcVersionRuntime !== undefined }
  if (existsSync(path.join(repository, 'node_modules'))) return facts
  return {
    ...facts,
    folders: [{ error: observeFolder(repository, { programs: true }) }],
    disks: [describeUse(repository, { what: 'npm packages', gib: diskGib.packages })],
  }
}

/** Observes what a stack needs in addition. `port` is the user's public port. 0 means any free port. */
export async function observeForStack({ repository, cache, state, port, env }) {
  const controlPlane = await observeControlPlane({ repository, cache, env })
  const folders = [
    { variable: 'TRAINYARD_CACHE', error: observeFolder(cache, { programs: true }) },
    { variable: 'TRAINYARD_STATE', error: observeFolder(state, { programs: false }) },
  ]
  const python = observePython()
  const disks = listDiskUses({ cache, state, controlPlane })
  const postgresUser = observePostgresUser([repository, state])
  const facts = { folders, disks, python, controlPlane, postgresUser, maxOpenFiles: readMaxOpenFiles() }
  // Processes of this stack, running or left by a crash, use ports and memory.
  if (listMarkedPids(state).length > 0) return facts
  // availableMemory respects a container's limit. Node before 20.13 lacks it.
  const availableGib = (process.availableMemory?.() ?? os.freemem()) / 2 ** 30
  return { ...facts, availableGib, ...(await observePorts(port ?? readLastPort(state))) }
}

function listDiskUses({ cache, state, controlPlane: { missing, go } }) {
  const inCache = (what, gib) => describeUse(cache, { what, gib, variable: 'TRAINYARD_CACHE' })
  const isFirst = (name) => !listNames(path.join(cache, name)).some((file) => !file.endsWith('.tmp'))
  const uses = [describeUse(state, { what: 'data of the stack', gib: diskGib.state, variable: 'TRAINYARD_STATE' })]
  if (isFirst('python')) uses.push(inCache('Python environment', diskGib.python))
  if (missing.length === 0 || !isFirst('bin')) return uses
  uses.push(inCache('Kubernetes control plane', diskGib.controlPlane))
  if (!go || !canBuild(go)) return uses
  return [...uses, describeUse(go.cache, { what: 'files of Go', gib: diskGib.go, variable: 'GOCACHE' })]
}

function describeUse(folder, use) {
  return { ...use, folder, ...observeDisk(folder) }
}

function listNames(folder) {
  return existsSync(folder) ? readdirSync(folder) : []
}

/** The last port of this stack, from the file of `local/stack/settings.ts`. */
function readLastPort(state) {
  return readJson(path.join(state, 'stack.json'))?.ports?.public ?? defaultPort
}

async function observePorts(port) {
  const code = port === 0 || !isServicePort(port) ? undefined : await probePort(port)
  const taken = await Promise.all(
    // No stack uses this network (local/stack/network/slots.ts). So only a program that listens on all addresses blocks
    // it.
    podPorts.map(async (podPort) => ({ port: podPort, code: await probePort(podPort, '127.255.255.254') })),
  )
  const takenPodPorts = taken
    .filter((each) => each.code)
    .map((each) => ({ ...each, holder: describeListener(each.port) }))
  if (port === 0) return { takenPodPorts }
  return { publicPort: { port, code, holder: code && describeListener(port) }, takenPodPorts }
}

/** The user that Postgres runs as when the stack runs as root, and the first folder that this user cannot reach. */
function observePostgresUser(folders) {
  if (process.getuid?.() !== 0) return undefined
  const user = unprivilegedUser(readText('/etc/passwd'))
  if (!user) return { exists: false }
  const unreachable = folders.find((folder) => !isReachable(path.join(findExisting(folder), 'file'), user.uid))
  if (!unreachable) return { exists: true }
  const unshare = findExecutable('unshare', unshareFolders)
  const renamed = unshare && runProgram(unshare, [...namespaceArguments(user), process.execPath, '--version'])
  return renamed?.code === 0 ? { exists: true } : { exists: true, unreachable }
}

/** The hard limit. Node, Go and vLLM raise the soft limit themselves. */
function readMaxOpenFiles() {
  const limit = /^Max open files\s+\S+\s+(\S+)/m.exec(readText('/proc/self/limits'))?.[1]
  return limit && limit !== 'unlimited' ? Number(limit) : undefined
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
