import { readFileSync } from 'node:fs'
import os from 'node:os'
import { createObject, mergePatch } from '../../lib/kube/apply.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import { ignoreErrors, isGone } from '../../lib/kube/error.ts'
import { formatMicroTime } from '../../lib/kube/micro-time.ts'
import { leasePath } from '../../lib/kube/paths.ts'
import type { Logger } from '../../lib/log.ts'
import { repeat } from '../../lib/repeat.ts'
import type { AgentConfig } from './config.ts'
import type { Node } from './objects.ts'
import { readBootId } from '../process-stat.ts'
import { toSeconds } from './pod/status.ts'

// A kubelet's interval. The cluster considers a node lost after 50 s without a heartbeat.
const leaseEveryMs = 10_000
const leaseSeconds = 40
const leaseNamespace = 'kube-node-lease'
const retryMs = 1000
const statusEveryMs = 60_000
// The Kubernetes version whose pods this agent supports.
const kubeletVersion = 'v1.36.0'
const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64' }

/** This machine's Node object, and the heartbeat that keeps it Ready. */
export class NodeKeeper {
  readonly #client: KubeClient
  readonly #config: AgentConfig
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #path: string
  #uid = ''
  #statusAt = 0

  constructor(client: KubeClient, config: AgentConfig, log: Logger) {
    this.#client = client
    this.#config = config
    this.#log = log
    this.#path = `/api/v1/nodes/${config.nodeName}`
  }

  /** Keeps the node registered and alive until `stop`. Errors are logged, and the step is repeated. */
  async run(): Promise<void> {
    let waitMs = leaseEveryMs
    const work = async () => {
      waitMs = leaseEveryMs
      await this.#beat()
    }
    const onError = (error: unknown) => {
      this.#log.warn({ error }, 'node heartbeat failed')
      waitMs = retryMs
    }
    await repeat(work, { pauseMs: () => waitMs, signal: this.#stopping.signal, onError })
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #beat(): Promise<void> {
    if (Date.now() - this.#statusAt >= statusEveryMs) {
      const node = await this.#register()
      this.#uid = node.metadata?.uid ?? ''
      await mergePatch(this.#client, `${this.#path}/status`, { status: this.#buildStatus(node) })
      this.#statusAt = Date.now()
    }
    await this.#renewLease()
  }

  async #register(): Promise<Node> {
    const name = this.#config.nodeName
    const arch = architectures[process.arch] ?? process.arch
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': process.platform,
      'kubernetes.io/arch': arch,
    }
    const known = await mergePatch<Node>(this.#client, this.#path, { metadata: { labels } }).catch(ignoreErrors(isGone))
    if (known) return known
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
    return this.#client.request<Node>({ method: 'POST', path: '/api/v1/nodes', body })
  }

  async #renewLease(): Promise<void> {
    const { nodeName: name } = this.#config
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: formatMicroTime(new Date()) }
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: this.#uid }
    const metadata = { name, ownerReferences: [owner] }
    const path = leasePath(leaseNamespace, name)
    const renewed = await mergePatch(this.#client, path, { metadata, spec }).catch(ignoreErrors(isGone))
    if (renewed) return
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
    await createObject(this.#client, leasePath(leaseNamespace), lease)
  }

  #buildStatus(node: Node): object {
    const capacity = readCapacity()
    return {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: this.#config.kubeletPort } },
      capacity,
      allocatable: capacity,
      conditions: buildConditions(node, toSeconds(new Date())),
      nodeInfo: {
        architecture: architectures[process.arch] ?? process.arch,
        operatingSystem: process.platform,
        kernelVersion: os.release(),
        osImage: readOsName(),
        bootID: readBootId(),
        machineID: '',
        systemUUID: '',
        containerRuntimeVersion: 'local://processes',
        kubeletVersion,
        kubeProxyVersion: '',
      },
    }
  }
}

function buildConditions(node: Node, now: string): object[] {
  const facts = [
    ['MemoryPressure', 'False', 'MemoryNotWatched', 'the local node does not evict pods'],
    ['DiskPressure', 'False', 'DiskNotWatched', 'the local node does not evict pods'],
    ['PIDPressure', 'False', 'ProcessesNotWatched', 'the local node does not evict pods'],
    ['Ready', 'True', 'NodeAgentReady', 'the node agent runs pods as local processes'],
  ] as const
  return facts.map(([type, status, reason, message]) => {
    const before = node.status?.conditions?.find((condition) => condition.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime }
  })
}

function readCapacity(): Record<string, string> {
  const limit = process.constrainedMemory()
  const bytes = limit > 0 ? Math.min(limit, os.totalmem()) : os.totalmem()
  return { cpu: String(os.availableParallelism()), memory: `${Math.floor(bytes / 1024)}Ki`, pods: '110' }
}

function readOsName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? os.type()
  } catch {
    return os.type()
  }
}
