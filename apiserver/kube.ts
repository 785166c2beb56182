import type { BaseModel, Model, TrainingJob } from '../crds/generated.ts'
import type { Kind } from '../crds/names.ts'
import { customPath } from '../crds/paths.ts'
import { loadKubeAccess, type kubeSettings } from '../lib/kube/access.ts'
import { createObject } from '../lib/kube/apply.ts'
import { KubeClient } from '../lib/kube/client.ts'
import { isReady, type Pod as PodObject } from '../lib/kube/objects.ts'
import { podPath } from '../lib/kube/paths.ts'
import { Reflector } from '../lib/kube/reflector.ts'
import type { Logger } from '../lib/log.ts'
import type { Config } from './config.ts'

// If kube-apiserver does not answer, our clients must not wait long.
const requestTimeoutMs = 2_000

/** The fields of a pod that we use. */
export interface Pod {
  name: string
  labels: Record<string, string>
  /** Its address, once it has one. */
  ip: string | undefined
  /** Whether it is ready and not terminating. */
  ready: boolean
}

/** Pods that are being watched. */
export interface PodWatch {
  /** The pods as last seen. */
  list(): Pod[]
  stop(): Promise<void>
}

/** Which pods to watch, and whom to notify. */
interface PodWatchOptions {
  labelSelector: string
  /** Called after each change. */
  onChange: () => void
  log: Logger
}

/** The apiserver's requests to Kubernetes. Each has a time limit of two seconds. */
export interface Kube {
  /** Creates a resource. Returns false if its name exists. */
  createResource(kind: Kind, resource: BaseModel | Model | TrainingJob): Promise<boolean>
  /** Lists the BaseModels in our namespace with these labels. */
  listBaseModels(labelSelector: string): Promise<BaseModel[]>
  /** Lists the pods in our namespace with these labels. */
  listPods(labelSelector: string): Promise<Pod[]>
  /** Watches the pods in our namespace with these labels. */
  watchPods(options: PodWatchOptions): PodWatch
  /** The version of kube-apiserver, such as `v1.36.3`. */
  readVersion(): Promise<string>
}

/** The Kubernetes client of the apiserver. */
export function createKube(config: Pick<Config, 'TRAINYARD_NAMESPACE' | keyof typeof kubeSettings>): Kube {
  const namespace = config.TRAINYARD_NAMESPACE
  const options = { userAgent: 'trainyard-apiserver', timeoutMs: requestTimeoutMs }
  const client = new KubeClient(loadKubeAccess(config), options)
  return {
    createResource(kind, resource) {
      return createObject(client, customPath(kind, resource.metadata.namespace ?? namespace), resource)
    },
    async listBaseModels(labelSelector) {
      const path = customPath('BaseModel', namespace)
      return (await client.request<{ items: BaseModel[] }>({ path, query: { labelSelector } })).items
    },
    async listPods(labelSelector) {
      const list = await client.request<{ items: PodObject[] }>({ path: podPath(namespace), query: { labelSelector } })
      return list.items.map(viewPod)
    },
    watchPods({ labelSelector, onChange, log }) {
      const path = podPath(namespace)
      const selector = { labelSelector }
      const pods = new Reflector<PodObject>({ client, path, kind: 'Pod', apiVersion: 'v1', selector, onChange, log })
      pods.start()
      return { list: () => pods.list().map(viewPod), stop: () => pods.stop() }
    },
    async readVersion() {
      return (await client.request<{ gitVersion: string }>({ path: '/version' })).gitVersion
    },
  }
}

function viewPod(pod: PodObject): Pod {
  const { name = '', labels = {} } = pod.metadata
  return { name, labels, ip: pod.status?.podIP, ready: isReady(pod) }
}
