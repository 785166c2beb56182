import type { KubeClient } from '../../../lib/kube/client.ts'
import { isReady, uidOf } from '../../../lib/kube/objects.ts'
import { Reflector } from '../../../lib/kube/reflector.ts'
import type { Logger } from '../../../lib/log.ts'
import { readPort } from '../probes/actions.ts'
import { retryBackoff } from '../container/backoff.ts'
import type { Events } from '../events.ts'
import { Forwarder, type Backend } from './forwarder.ts'
import type { Pod, Service } from '../objects.ts'

interface ServicesOptions {
  client: KubeClient
  events: Events
  log: Logger
  listPods: () => Pod[]
}

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]

interface Listener {
  host: string
  port: number
  service: Service
  servicePort: ServicePort
}

const retryMs = 10_000

/** The needed part of kube-proxy: cluster addresses and node ports that lead to ready pods. */
export class Services {
  readonly #options: ServicesOptions
  readonly #watched: Reflector<Service>
  readonly #forwarders = new Map<string, Forwarder>()
  #syncing: Promise<void> = Promise.resolve()
  #isStopped = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: ServicesOptions) {
    this.#options = options
    const { client, log } = options
    this.#watched = new Reflector<Service>({
      client,
      log,
      path: '/api/v1/services',
      kind: 'Service',
      apiVersion: 'v1',
      keyOf: uidOf,
      onChange: () => this.#wake(),
      backoff: retryBackoff,
    })
  }

  async start(): Promise<void> {
    this.#watched.start()
    await this.#watched.synced
    // Listening is retried for addresses that were not available.
    this.#timer = setInterval(() => this.#wake(), retryMs).unref()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    for (const forwarder of this.#forwarders.values()) forwarder.destroy()
    await this.#watched.stop()
  }

  list(): Service[] {
    return this.#watched.list()
  }

  #wake(): void {
    this.#syncing = this.#syncing.then(() => this.#sync())
  }

  async #sync(): Promise<void> {
    if (this.#isStopped) return
    const wanted = new Map(
      this.list()
        .flatMap(listListeners)
        .map((listener) => [describe(listener), listener]),
    )
    for (const [key, forwarder] of this.#forwarders) {
      if (wanted.has(key)) continue
      forwarder.close()
      this.#forwarders.delete(key)
    }
    for (const [key, listener] of wanted) if (!this.#forwarders.has(key)) await this.#open(key, listener)
  }

  async #open(key: string, listener: Listener): Promise<void> {
    const forwarder = new Forwarder(() => this.#listBackends(listener))
    try {
      await forwarder.listen(listener.host, listener.port)
      this.#forwarders.set(key, forwarder)
    } catch (error) {
      const { namespace = '', name = '', uid = '' } = listener.service.metadata ?? {}
      const reason = (error as NodeJS.ErrnoException).code ?? String(error)
      const message = `cannot listen on ${listener.host}:${listener.port}: ${reason}`
      this.#options.events.warn({ kind: 'Service', namespace, name, uid }, 'ListenFailed', message)
      this.#options.log.warn({ namespace, name, error }, 'service not served')
    }
  }

  /** The pods that are ready now. The service's selector may have changed since it was first seen. */
  #listBackends({ service, servicePort }: Listener): Backend[] {
    const now = this.#watched.get(uidOf(service)) ?? service
    const port = now.spec?.ports?.find((candidate) => candidate.port === servicePort.port) ?? servicePort
    return findBackends(now, port, this.#options.listPods())
  }
}

/** The addresses of a service. A service without a selector has none, and UDP is not supported. */
export function listListeners(service: Service): Listener[] {
  const { clusterIP, selector, ports = [], type } = service.spec ?? {}
  if (!selector || type === 'ExternalName') return []
  return ports
    .filter((servicePort) => (servicePort.protocol ?? 'TCP') === 'TCP')
    .flatMap((servicePort) => {
      const common = { service, servicePort }
      const atCluster =
        clusterIP && clusterIP !== 'None' ? [{ ...common, host: clusterIP, port: servicePort.port }] : []
      const atNode = servicePort.nodePort ? [{ ...common, host: '127.0.0.1', port: servicePort.nodePort }] : []
      return [...atCluster, ...atNode]
    })
}

/** The pods of a service's port: selected, ready, and not being deleted. */
export function findBackends(service: Service, servicePort: ServicePort, pods: Pod[]): Backend[] {
  const selector = Object.entries(service.spec?.selector ?? {})
  return pods
    .filter((pod) => pod.metadata?.namespace === service.metadata?.namespace && isReady(pod))
    .filter((pod) => selector.every(([name, value]) => pod.metadata?.labels?.[name] === value))
    .flatMap((pod) => {
      const port = findTargetPort(pod, servicePort)
      return port === undefined ? [] : [{ host: pod.status?.podIP ?? '', port }]
    })
}

function findTargetPort(pod: Pod, servicePort: ServicePort): number | undefined {
  const target: unknown = servicePort.targetPort ?? servicePort.port
  if (typeof target === 'number') return target
  const container = pod.spec?.containers.find(({ ports }) => ports?.some((port) => port.name === target))
  return container && readPort(container, target)
}

/** The identity of a listener: its address, port and service. */
function describe({ host, port, service, servicePort }: Listener): string {
  return JSON.stringify([host, port, uidOf(service), servicePort.port])
}
