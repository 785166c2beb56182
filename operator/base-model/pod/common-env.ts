import type { BaseModel } from '../../../crds/generated.ts'
import type { Component } from '../../component-pods.ts'
import type { EnvVar } from './artifacts.ts'
import type { PodSettings } from './common.ts'

/** The Secrets of a pod, for its hash. It has them by name only. */
export function findSecrets(components: Component[], { secretDigests }: PodSettings): { secrets?: string[] } {
  const secrets = components.map((component) => secretDigests?.[component] ?? '').filter((digest) => digest !== '')
  return secrets.length > 0 ? { secrets } : {}
}

export function metricsEnv(port: number): EnvVar {
  return { name: 'TRAINYARD_METRICS_PORT', value: String(port) }
}

/** Where the pods listen. */
export function hostEnv({ listenOnPodIp }: PodSettings): EnvVar {
  const fieldRef = { fieldPath: 'status.podIP' }
  return { name: 'TRAINYARD_HOST', ...(listenOnPodIp ? { valueFrom: { fieldRef } } : { value: '0.0.0.0' }) }
}

/** The adapters that trainers write. Engines check with one of this kind that they apply. */
export function loraEnv({ spec }: BaseModel): EnvVar {
  const { rank, alpha, targetModules } = spec.lora ?? {}
  return { name: 'TRAINYARD_LORA', value: JSON.stringify({ rank, alpha, target_modules: targetModules }) }
}
