import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { runChild } from '../../../local/install/run-child.ts'
import { unpackDebianPackage } from '../debian-package.ts'

/** Where buildah, its images and the bases are kept. */
export const imagesFolder = path.join(readLocalConfig().cacheFolder, 'images')
const tools = path.join(imagesFolder, 'tools')
const libraries = path.join(tools, 'usr', 'lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
const storage = ['--root', 'storage', '--runroot', 'run', '--storage-driver', 'overlay']
const policy = path.join(imagesFolder, 'policy.json')
const registries = path.join(imagesFolder, 'registries.conf')

// buildah starts itself again in a chroot, without LD_LIBRARY_PATH. Its libraries are therefore where the system's are, for
// this process only.
const withLibraries = `mount -t overlay overlay -o lowerdir="$0:$1" "$1" && shift && exec "$@"`

/** Unpacks Debian's buildah and mmdebstrap in the cache folder. Nothing is installed. */
export async function installBuildah(): Promise<void> {
  await mkdir(imagesFolder, { recursive: true })
  // Images come from here, and from no registry.
  await writeFile(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }))
  await writeFile(registries, '')
  const started = await runBuildah(['--version']).catch(() => undefined)
  if (started?.code === 0) return
  const needed = ['libgpgme11', 'libseccomp2', 'libassuan0', 'libgpg-error0', 'libdevmapper1.02.1', 'mmdebstrap']
  await unpackDebianPackage({ name: 'buildah', folder: tools, more: needed })
}

/** Runs buildah with the images of the cache folder. */
export function runBuildah(args: string[], onLine?: (line: string) => void) {
  return runWithBuildah(['buildah', ...storage, ...args], onLine)
}

/** Runs a command that finds buildah in its search path. */
export function runWithBuildah([program, ...args]: [string, ...string[]], onLine?: (line: string) => void) {
  const systemLibraries = path.join('/usr/lib', path.basename(libraries))
  const command = ['sh', '-c', withLibraries, libraries, systemLibraries, program, ...args]
  const env = {
    ...process.env,
    PATH: `${path.join(tools, 'usr', 'bin')}:${process.env.PATH}`,
    CONTAINERS_REGISTRIES_CONF: registries,
  }
  const options = { cwd: imagesFolder, env, ...(onLine && { onLine }) }
  return runChild('unshare', ['--mount', '--propagation', 'private', ...command], options)
}

interface Build {
  tag: string
  dockerfile: string
  context: string
  args?: Record<string, string>
  /** false: no step is kept for the next build. */
  layers?: boolean
}

/** Builds an image as a Dockerfile says, without a daemon. @throws {Error} with the output of the step that fails */
export async function buildImage({ tag, dockerfile, context, args = {}, layers = true }: Build): Promise<void> {
  const values = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
  const options = [
    '--isolation',
    'chroot',
    '--pull-never',
    `--layers=${layers}`,
    '--format',
    'oci',
    '--signature-policy',
    policy,
  ]
  const { code, stdout, tail } = await runBuildah([
    'build',
    ...options,
    ...values,
    '-t',
    tag,
    '-f',
    dockerfile,
    context,
  ])
  if (code !== 0)
    throw new Error(`${dockerfile} cannot be built:\n${stdout.split('\n').slice(-30).join('\n')}\n${tail}`)
}

/** Writes an image to a file in the form of Docker, under another name. */
export async function saveImage(tag: string, { file, name }: { file: string; name: string }): Promise<void> {
  await rm(file, { force: true })
  const { code, tail } = await runBuildah(['push', '--signature-policy', policy, tag, `docker-archive:${file}:${name}`])
  if (code !== 0) throw new Error(`${tag} cannot be written to ${file}: ${tail}`)
}

/** What an image says about its processes. */
export interface ImageConfig {
  User: string
  WorkingDir: string
  Env: string[]
}

export async function readImage(tag: string): Promise<ImageConfig & { sizeBytes: number }> {
  const inspected = await runBuildah(['inspect', '--type', 'image', tag])
  if (inspected.code !== 0) throw new Error(inspected.tail)
  const { OCIv1 } = JSON.parse(inspected.stdout) as { OCIv1: { config: ImageConfig } }
  const listed = await runBuildah(['images', '--json', tag])
  const [{ size } = { size: '' }] = JSON.parse(listed.stdout) as { size: string }[]
  return { ...OCIv1.config, sizeBytes: readSize(size) }
}

const units: Partial<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 }

/** `1.5 GB`, as buildah writes it. */
function readSize(text: string): number {
  const [amount, unit = ''] = text.split(' ')
  const factor = units[unit.toUpperCase()]
  if (factor === undefined) throw new Error(`buildah says a size that is not understood: ${text}`)
  return Number(amount) * factor
}

// The root file system is read-only, as in the pods. A container runtime gives /proc, /dev and a writable /tmp.
const inImage = `
set -e
name=$1; shift
container=$(buildah ${storage.join(' ')} from --pull-never "$name")
trap 'buildah ${storage.join(' ')} rm "$container" >&2' EXIT
folder=$(buildah ${storage.join(' ')} mount "$container")
mount --bind "$folder" "$folder"
mkdir -p "$folder/proc" "$folder/dev" "$folder/tmp"
mount -t proc proc "$folder/proc"
mount --rbind /dev "$folder/dev"
mount -t tmpfs tmpfs "$folder/tmp"
mount -o remount,bind,ro "$folder"
chroot --userspec="$RUN_USER" "$folder" /usr/bin/env -i "$@"
`

/**
 * Runs a command in an image: as its user, in its folder, with its environment and a read-only root file system. Each run has a
 * container of its own, which is removed.
 */
export async function runInImage(tag: string, command: readonly string[], env: Record<string, string> = {}) {
  const { User, WorkingDir, Env } = await readImage(tag)
  const variables = [...Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  const inFolder = ['/bin/sh', '-c', 'cd "$0" && exec "$@"', WorkingDir, ...command]
  return runWithBuildah(['env', `RUN_USER=${User}`, 'sh', '-c', inImage, 'sh', tag, ...variables, ...inFolder])
}
