import type { KubeObject } from './apply.ts'

/** The parts of Kubernetes' own kinds that we read. */
export interface Pod extends KubeObject {
  metadata: KubeObject['metadata'] & {
    labels?: Record<string, string>
    annotations?: Record<string, string>
    creationTimestamp?: string
    deletionTimestamp?: string
    ownerReferences?: object[]
  }
  spec?: { nodeName?: string; containers?: { name: string; resources?: ContainerResources }[] }
  status?: PodStatus
}

/** The key of an object among those of several namespaces. */
export function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

/** The namespace and the name of a key. */
export function splitKey(key: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}

/** A uid is never used again. */
export function uidOf(object: KubeObject): string {
  return object.metadata.uid ?? ''
}

/** Whether the pod accepts work: its Ready condition is true and it is not terminating. */
export function isReady(pod: Pick<Pod, 'metadata' | 'status'>): boolean {
  const ready = pod.status?.conditions?.find((condition) => condition.type === 'Ready')
  return ready?.status === 'True' && pod.metadata.deletionTimestamp === undefined
}

interface ContainerResources {
  requests?: Record<string, string>
  limits?: Record<string, string>
}

export interface PodStatus {
  phase?: string
  reason?: string
  message?: string
  podIP?: string
  startTime?: string
  conditions?: StatusCondition[]
  initContainerStatuses?: ContainerStatus[]
  containerStatuses?: ContainerStatus[]
}

interface StatusCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface ContainerStatus {
  name: string
  ready: boolean
  restartCount: number
  state?: ContainerState
  lastState?: ContainerState
}

interface ContainerState {
  running?: { startedAt?: string }
  waiting?: { reason?: string; message?: string }
  terminated?: { reason?: string; message?: string; exitCode: number; finishedAt?: string }
}

export interface Deployment extends KubeObject {
  metadata: KubeObject['metadata'] & { labels?: Record<string, string>; annotations?: Record<string, string> }
  spec?: {
    replicas?: number
    template?: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> } }
  }
  status?: { conditions?: StatusCondition[] }
}

/** A Job of Kubernetes, which runs pods until one succeeds. */
export interface Job extends KubeObject {
  metadata: KubeObject['metadata'] & { annotations?: Record<string, string> }
  spec?: { suspend?: boolean }
  status?: { conditions?: StatusCondition[] }
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>
}
