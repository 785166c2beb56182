import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { withLock } from '../entry/lock.mjs'
import { programs } from '../preflight/requirements.mjs'
import { Interrupted } from '../user-error.ts'
import type { Phase } from '../terminal/board.ts'
import type { InstallContext } from './context.ts'
import { buildControlPlane } from './control-plane-build.ts'
import { downloadProgram } from './download.ts'
import { findExecutable, fitsControlPlane, fitsKubectl } from './find-programs.ts'
import { officialRelease } from './releases.ts'
import { isComplete, moveWithStamp } from './stamp.ts'
import { readVersions, type Program, type Versions } from './versions.ts'

/** The path of each program of the control plane. */
export type ControlPlane = Record<Program, string>

/**
 * Finds or installs the control plane's programs. Each may come from another source: KUBEBUILDER_ASSETS, the cache, an
 * official build, or a build with Go.
 */
export async function installControlPlane(context: InstallContext): Promise<ControlPlane> {
  const { config, board, signal } = context
  const goFolder = path.join(config.repository, 'local', 'go')
  const versions = await readVersions(goFolder)
  const binFolder = path.join(config.cacheFolder, 'bin', `${versions.key}-${process.arch}`)
  const found = await findPrograms(context, versions, binFolder)
  if (missingFrom(found).length === 0) return found as ControlPlane
  return board.run('getting the Kubernetes control plane', (phase) =>
    withLock(
      binFolder,
      async () => {
        const again = await findPrograms(context, versions, binFolder)
        await installMissing(missingFrom(again), { goFolder, binFolder, versions, phase, signal })
        return (await findPrograms(context, versions, binFolder)) as ControlPlane
      },
      { signal, onWait: () => phase.update('another run is installing it; waiting') },
    ),
  )
}

function missingFrom(found: Partial<ControlPlane>): Program[] {
  return programs.filter((program) => !found[program])
}

async function findPrograms(
  { config }: InstallContext,
  versions: Versions,
  binFolder: string,
): Promise<Partial<ControlPlane>> {
  const assets = config.kubebuilderAssets ? [config.kubebuilderAssets] : []
  const found: Partial<ControlPlane> = {}
  for (const program of programs) {
    const asset = await findExecutable(program, assets)
    const cached = path.join(binFolder, program)
    if (asset && (await fitsHere(program, asset, versions))) found[program] = asset
    else if (await isComplete(cached)) found[program] = cached
  }
  if (!found.kubectl) {
    const kubectl = await findExecutable('kubectl', config.searchPath)
    if (kubectl && (await fitsKubectl(kubectl, versions))) found.kubectl = kubectl
  }
  return found
}

function fitsHere(program: Program, file: string, versions: Versions): Promise<boolean> {
  return program === 'kubectl' ? fitsKubectl(file, versions) : fitsControlPlane(program, file, versions)
}

interface InstallRequest {
  goFolder: string
  binFolder: string
  versions: Versions
  phase: Phase
  signal: AbortSignal
}

async function installMissing(missing: Program[], getting: InstallRequest): Promise<void> {
  if (missing.length === 0) return
  await mkdir(getting.binFolder, { recursive: true })
  await removeHalfMade(getting.binFolder)
  const toBuild = await downloadReachable(missing, getting)
  if (toBuild.length > 0) await buildControlPlane(toBuild, getting)
}

/** Removes the files of an interrupted run. The caller holds the lock, so no other process uses the folder. */
async function removeHalfMade(binFolder: string): Promise<void> {
  for (const name of await readdir(binFolder)) {
    if (/\.(tmp|download-\w+)$/.test(name)) await rm(path.join(binFolder, name), { recursive: true, force: true })
  }
}

/**
 * Downloads the programs that it can and returns the others, which must be built. A host that failed once is not used
 * again.
 */
async function downloadReachable(missing: Program[], getting: InstallRequest): Promise<Program[]> {
  const { binFolder, versions, phase, signal } = getting
  const unreachableHosts = new Set<string>()
  const toBuild: Program[] = []
  for (const program of missing) {
    const release = officialRelease(program, versions, process.arch)
    const host = release && new URL(release.url).host
    if (!release || unreachableHosts.has(host!)) {
      toBuild.push(program)
      continue
    }
    const file = path.join(binFolder, program)
    try {
      phase.update(`asking ${host} for ${program}`)
      const onProgress = (fraction: number | undefined) => phase.update(`${program} from ${host}`, fraction)
      await downloadProgram(release, `${file}.tmp`, { signal, onProgress })
      await moveWithStamp(`${file}.tmp`, file, release.url)
    } catch (error) {
      if (signal.aborted) throw new Interrupted('', { cause: error })
      unreachableHosts.add(host!)
      toBuild.push(program)
    }
  }
  return toBuild
}
