import type { KubeObject } from './apply.ts'

/** The parts of Kubernetes' own kinds that we read. */
export interface Pod extends KubeObject {
  metadata: KubeObject['metadata'] & {
    labels?: Record<string, string>
    creationTimestamp?: string
    deletionTimestamp?: string
  }
  spec?: { nodeName?: string }
  status?: PodStatus
}

/** No other object ever has this uid. */
export function uidOf(object: KubeObject): string {
  return object.metadata.uid ?? ''
}

/** True when the pod takes work: its Ready condition says so and it is not being ended. */
export function isReady(pod: Pick<Pod, 'metadata' | 'status'>): boolean {
  const ready = pod.status?.conditions?.find((condition) => condition.type === 'Ready')
  return ready?.status === 'True' && pod.metadata.deletionTimestamp === undefined
}

export interface PodStatus {
  phase?: string
  reason?: string
  message?: string
  podIP?: string
  conditions?: { type: string; status: string; reason?: string; message?: string }[]
  containerStatuses?: ContainerStatus[]
}

export interface ContainerStatus {
  name: string
  ready: boolean
  restartCount: number
  state?: ContainerState
  lastState?: ContainerState
}

interface ContainerState {
  waiting?: { reason?: string; message?: string }
  terminated?: { reason?: string; message?: string; exitCode: number }
}

export interface Deployment extends KubeObject {
  metadata: KubeObject['metadata'] & { labels?: Record<string, string> }
  status?: { conditions?: { type: string; status: string; reason?: string; message?: string }[] }
}
