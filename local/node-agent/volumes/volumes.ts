import { chmod, mkdir, open, stat } from 'node:fs/promises'
import path from 'node:path'
import type { KubeClient } from '../../../lib/kube/client.ts'
import { readPodField } from '../container/env.ts'
import type { Pod, Volume, VolumeProjection } from '../objects.ts'
import { PodData, type Data } from './pod-data.ts'
import type { PodFolder } from '../pod/pod-folder.ts'
import { readRenewalTime, requestToken } from './tokens.ts'
import { writeVolumeFiles, type VolumeFile } from './volume-files.ts'

/** A volume cannot be created now. The message is for people. */
export class VolumeError extends Error {
  override name = 'VolumeError'
}

interface VolumesOptions {
  client: KubeClient
  folder: PodFolder
  podIP: string
}

type KeyItem = { key: string; path: string; mode?: number }
type FieldItem = { path: string; fieldRef?: { fieldPath: string }; mode?: number }
type Reference = { name?: string; optional?: boolean; items?: KeyItem[] }

const defaultTokenSeconds = 3600

/** The volumes of one pod as folders. They are created and refreshed from the pod and from the cluster. */
export class PodVolumes {
  readonly #options: VolumesOptions

  constructor(options: VolumesOptions) {
    this.#options = options
  }

  /** Updates every volume, and renews tokens that are due. */
  async write(pod: Pod): Promise<void> {
    for (const volume of pod.spec?.volumes ?? []) await this.#writeVolume(pod, volume)
  }

  /** The folder of a volume. */
  locate(pod: Pod, name: string): string {
    const volume = pod.spec?.volumes?.find((candidate) => candidate.name === name)
    return volume?.hostPath?.path ?? this.#options.folder.volume(name)
  }

  async #writeVolume(pod: Pod, volume: Volume): Promise<void> {
    if (volume.hostPath) return prepareHostPath(volume.hostPath.path, volume.hostPath.type ?? '')
    const folder = this.#options.folder.volume(volume.name)
    if (volume.emptyDir) return makeEmptyDir(folder)
    const mode = volume.projected?.defaultMode ?? findDefaultMode(volume) ?? 0o644
    const sources = volume.projected?.sources ?? [asProjection(volume)]
    const files = await Promise.all(sources.map((source) => this.#readSource(pod, source, folder)))
    await writeVolumeFiles(folder, files.flat(), mode)
  }

  async #readSource(pod: Pod, source: VolumeProjection, folder: string): Promise<VolumeFile[]> {
    const data = new PodData(this.#options.client, pod.metadata?.namespace ?? '')
    if (source.configMap) {
      const { name = '' } = source.configMap
      return selectItems(`configmap "${name}"`, await data.readConfigMap(name), source.configMap)
    }
    if (source.secret) {
      const { name = '' } = source.secret
      return selectItems(`secret "${name}"`, await data.readSecret(name), source.secret)
    }
    if (source.downwardAPI) return this.#readFields(pod, source.downwardAPI.items ?? [])
    return [await this.#readToken(pod, source, folder)]
  }

  #readFields(pod: Pod, items: FieldItem[]): VolumeFile[] {
    return items.map(({ path: file, fieldRef, mode }) => ({
      path: file,
      content: Buffer.from(readPodField(pod, this.#options.podIP, fieldRef?.fieldPath ?? '')),
      ...(mode !== undefined && { mode }),
    }))
  }

  async #readToken(pod: Pod, { serviceAccountToken }: VolumeProjection, folder: string): Promise<VolumeFile> {
    const file = serviceAccountToken?.path ?? ''
    if ((await readRenewalTime(path.join(folder, file))) > Date.now()) return { path: file, content: 'unchanged' }
    const token = await requestToken(this.#options.client, pod, {
      audience: serviceAccountToken?.audience,
      expirationSeconds: serviceAccountToken?.expirationSeconds ?? defaultTokenSeconds,
    })
    return { path: file, content: Buffer.from(token), mode: 0o600 }
  }
}

/** A volume of a single source is a projection with other names. */
function asProjection(volume: Volume): VolumeProjection {
  if (volume.configMap) return { configMap: volume.configMap }
  if (volume.downwardAPI) return { downwardAPI: volume.downwardAPI }
  if (volume.secret) {
    const { secretName = '', items, optional } = volume.secret
    return { secret: { name: secretName, ...(items && { items }), ...(optional !== undefined && { optional }) } }
  }
  throw new VolumeError(`volume ${volume.name} is of a kind that the local node does not know`)
}

function findDefaultMode(volume: Volume): number | undefined {
  return volume.configMap?.defaultMode ?? volume.secret?.defaultMode ?? volume.downwardAPI?.defaultMode
}

function selectItems(what: string, data: Data | undefined, { items, optional }: Reference): VolumeFile[] {
  if (!data && !optional) throw new VolumeError(`${what} not found`)
  if (!items) return Object.entries(data ?? {}).map(([key, content]) => ({ path: key, content }))
  return items.flatMap(({ key, path: file, mode }) => {
    const content = data?.[key]
    if (content) return [{ path: file, content, ...(mode !== undefined && { mode }) }]
    if (optional) return []
    throw new VolumeError(`${what} has no key ${key}`)
  })
}

async function makeEmptyDir(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o700)
}

async function prepareHostPath(target: string, type: string): Promise<void> {
  if (type === 'DirectoryOrCreate') await mkdir(target, { recursive: true })
  if (type === 'FileOrCreate') await (await open(target, 'a')).close()
  if (type === '') return
  const found = await stat(target).catch(() => undefined)
  if (!found) throw new VolumeError(`hostPath ${target} does not exist`)
  if (type.startsWith('Directory') && !found.isDirectory()) throw new VolumeError(`hostPath ${target} is no directory`)
  if (type.startsWith('File') && !found.isFile()) throw new VolumeError(`hostPath ${target} is no file`)
}
