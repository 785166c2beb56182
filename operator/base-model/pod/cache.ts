import type { BaseModel } from '../../../crds/generated.ts'
import type { Component } from '../../component-pods.ts'
import type { EnvVar } from './artifacts.ts'

/** Where downloaded weights and compiled code are kept: one of the sources of a pod's volume. */
export type CacheVolume = NonNullable<BaseModel['spec']['cache']>

const cachePath = '/cache'
const volumeName = 'cache'

/** The cache of a base model's pods, in all its places. */
export interface PodCache {
  volumes: { name: string }[]
  mounts: { name: string; mountPath: string }[]
  env: EnvVar[]
}

/** Describes the cache of a component's pods. Without a volume, pods use the folders of their image. */
export function describeCache(component: Component, volume: CacheVolume | undefined): PodCache {
  if (!volume) return { volumes: [], mounts: [], env: [] }
  return {
    volumes: [{ name: volumeName, ...readVolume(volume) }],
    mounts: [{ name: volumeName, mountPath: cachePath }],
    env: cacheEnv(component),
  }
}

function readVolume({ hostPath, ...volume }: CacheVolume): Omit<CacheVolume, 'hostPath'> & { hostPath?: object } {
  return hostPath ? { hostPath: { ...hostPath, type: 'DirectoryOrCreate' } } : volume
}

/**
 * Weights are the same for all pods, and their downloads lock them. Engines and trainers compile different code with
 * different settings.
 */
function cacheEnv(component: Component): EnvVar[] {
  const compiled = `${cachePath}/${component}`
  return [
    { name: 'HF_HOME', value: `${cachePath}/huggingface` },
    { name: 'TRAINYARD_MODEL_CACHE', value: `${cachePath}/models` },
    { name: 'VLLM_CACHE_ROOT', value: `${compiled}/vllm` },
    { name: 'TORCHINDUCTOR_CACHE_DIR', value: `${compiled}/torchinductor` },
    { name: 'TRITON_CACHE_DIR', value: `${compiled}/triton` },
  ]
}
