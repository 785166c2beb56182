import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { LocalImage } from '../config.ts'
import { expand, readPodField, resolveEnv, serviceEnv, type Env, type EnvSources } from './env.ts'
import type { Container, Pod } from '../objects.ts'
import type { Command } from './launch.ts'
import { locateMounts, rewritePaths, type Mount } from '../volumes/mounts.ts'
import type { PodContext } from '../pod/pod-context.ts'
import { PodData, readText } from '../volumes/pod-data.ts'
import { locateTerminationMessage } from './termination-message.ts'

const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
// Programs expect these variables in any session, and no pod sets them. Other variables of the agent are not inherited.
const inheritedNames = ['HOME', 'USER', 'LOGNAME', 'LANG', 'TZ']

/** Every process that a run started has this variable, with the run's folder as value. It finds them all. */
export const runMark = 'LOCAL_NODE_RUN'

/** Builds the command of a container's next run. Mounted paths in it are replaced by the real paths. */
export async function buildCommand(
  context: PodContext,
  pod: Pod,
  container: Container,
  image: LocalImage,
  runFolder: string,
): Promise<Command> {
  const services = buildServiceEnv(context, pod)
  const own = await resolveEnv(container, services, createSources(context, pod))
  const mounts = findMounts(context, pod, container, { runFolder, env: own })
  await makeSubPaths(container, mounts)
  const known = { ...services, ...own }
  const argv = [...(container.command ?? []), ...(container.args ?? [])]
  return {
    argv: argv.map((word) => rewritePaths(expand(word, known), mounts)),
    // The folder of an image is on this machine already, maybe in its /tmp.
    cwd: container.workingDir === undefined ? image.cwd : rewritePaths(container.workingDir, mounts),
    env: {
      ...readInherited(),
      HOSTNAME: pod.metadata?.name ?? '',
      PATH: [...image.path, ...systemPath].join(':'),
      ...image.env,
      ...mapEnv(known, (value) => rewritePaths(value, mounts)),
      [runMark]: runFolder,
    },
  }
}

/** The mounts of a container, including its termination message file. */
export function findMounts(
  context: PodContext,
  pod: Pod,
  container: Container,
  { runFolder, env = {} }: { runFolder: string; env?: Env },
): Mount[] {
  const findVolume = (name: string) => context.volumes.locate(pod, name)
  const mounts = locateMounts(container, findVolume, (text) => expand(text, env))
  return [...mounts, locateTerminationMessage(container, runFolder)]
}

function buildServiceEnv(context: PodContext, pod: Pod): Env {
  const { kubernetesHost, kubernetesPort } = context.config
  const linked = pod.spec?.enableServiceLinks !== false
  return {
    ...(linked && serviceEnv(context.listServices(), pod.metadata?.namespace ?? '')),
    KUBERNETES_SERVICE_HOST: kubernetesHost,
    KUBERNETES_SERVICE_PORT: String(kubernetesPort),
    KUBERNETES_SERVICE_PORT_HTTPS: String(kubernetesPort),
  }
}

function createSources(context: PodContext, pod: Pod): EnvSources {
  const data = new PodData(context.client, pod.metadata?.namespace ?? '')
  return {
    readConfigMap: async (name) => readText(await data.readConfigMap(name)),
    readSecret: async (name) => readText(await data.readSecret(name)),
    readField: (fieldPath) => readPodField(pod, context.podIP, fieldPath),
  }
}

/** Creates the folder of a sub path that its volume does not have yet. */
async function makeSubPaths(container: Container, mounts: Mount[]): Promise<void> {
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const realPath = mounts[index]?.realPath
    if ((mount.subPath || mount.subPathExpr) && realPath) await makeFolder(realPath)
  }
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(path.resolve(folder), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

function readInherited(): Env {
  const entries = inheritedNames.map((name) => [name, process.env[name]] as const)
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function mapEnv(env: Env, change: (value: string) => string): Env {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, change(value)]))
}
