import {
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  VersionApi,
  createConfiguration,
  ServerConfiguration,
  type Middleware,
  type V1Pod,
} from '@kubernetes/client-node'
import type { Model, TrainingJob } from '../crds/generated.ts'
import { group, plurals, version } from '../crds/names.ts'
import type { Config } from './config.ts'

// A request that kube-apiserver does not answer must not keep a client of ours waiting.
const requestTimeoutMs = 2_000

/** What we look at in a pod. */
export interface Pod {
  name: string
  labels: Record<string, string>
  /** Its address, once it has one. */
  ip: string | undefined
  /** It says that it is ready, and is not being ended. */
  ready: boolean
}

/** What the apiserver asks of Kubernetes. Every call gives up after two seconds. */
export interface Kube {
  /** Creates a resource; one that is there already is as good. */
  createResource(kind: 'Model' | 'TrainingJob', resource: Model | TrainingJob): Promise<void>
  /** Pods of our own namespace that carry the labels. */
  listPods(labelSelector: string): Promise<Pod[]>
  /** The version of kube-apiserver, such as `v1.36.3`. */
  readVersion(): Promise<string>
}

/** The Kubernetes client: by service account inside of a cluster, by KUBECONFIG elsewhere. */
export function createKube(config: Config): Kube {
  const kubeConfig = loadKubeConfig(config)
  const client = createConfiguration({
    baseServer: new ServerConfiguration(kubeConfig.getCurrentCluster()?.server ?? '', {}),
    authMethods: { default: kubeConfig },
    promiseMiddleware: [limitTime],
  })
  const custom = new CustomObjectsApi(client)
  const core = new CoreV1Api(client)
  const versions = new VersionApi(client)
  return {
    async createResource(kind, resource) {
      const plural = plurals[kind]
      const namespace = resource.metadata.namespace ?? config.TRAINYARD_NAMESPACE
      await custom
        .createNamespacedCustomObject({ group, version, namespace, plural, body: resource })
        .catch((error: unknown) => ignoreExisting(error))
    },
    async listPods(labelSelector) {
      const list = await core.listNamespacedPod({ namespace: config.TRAINYARD_NAMESPACE, labelSelector })
      return list.items.map(viewPod)
    },
    async readVersion() {
      return (await versions.getCode()).gitVersion
    },
  }
}

/** The client library waits for ever by itself. */
const limitTime: Middleware = {
  async pre(request) {
    request.setSignal(AbortSignal.timeout(requestTimeoutMs))
    return request
  },
  async post(response) {
    return response
  },
}

function viewPod({ metadata, status }: V1Pod): Pod {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready')
  return {
    name: metadata?.name ?? '',
    labels: metadata?.labels ?? {},
    ip: status?.podIP,
    ready: condition?.status === 'True' && metadata?.deletionTimestamp === undefined,
  }
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof ApiException && error.code === 409)) throw error
}

function loadKubeConfig(config: Config): KubeConfig {
  const kubeConfig = new KubeConfig()
  const { TRAINYARD_SERVICE_ACCOUNT_DIR: folder, KUBERNETES_SERVICE_HOST: host } = config
  if (!folder || !host) {
    if (config.KUBECONFIG) kubeConfig.loadFromFile(config.KUBECONFIG)
    else kubeConfig.loadFromDefault()
    return kubeConfig
  }
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${config.KUBERNETES_SERVICE_PORT ?? '443'}`
  kubeConfig.loadFromClusterAndUser(
    { name: 'cluster', server, caFile: `${folder}/ca.crt`, skipTLSVerify: false },
    // Read again as it rotates.
    { name: 'user', authProvider: { name: 'tokenFile', config: { tokenFile: `${folder}/token` } } },
  )
  return kubeConfig
}
