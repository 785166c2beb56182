import { mkdir } from 'node:fs/promises'
import { uidOf } from '../../../lib/kube/objects.ts'
import { Reflector } from '../../../lib/kube/reflector.ts'
import type { Addresses } from '../network/addresses.ts'
import { retryBackoff } from '../container/backoff.ts'
import type { Pod } from '../objects.ts'
import type { NodeContext } from './pod-context.ts'
import { listPodFolders, PodFolder, podsFolder, type PodIdentity } from './pod-folder.ts'
import { PodWorker } from './pod-worker.ts'
import { listRuns, type Run } from '../container/run.ts'

/** All pods of this node. Each pod that is in the cluster, or still has something on the machine, has a worker. */
export class Pods {
  readonly #node: NodeContext
  readonly #addresses: Addresses
  readonly #watched: Reflector<Pod>
  readonly #workers = new Map<string, PodWorker>()
  readonly #running = new Set<Promise<void>>()
  #stopBy: number | undefined

  constructor(node: NodeContext, addresses: Addresses) {
    this.#node = node
    this.#addresses = addresses
    this.#watched = new Reflector<Pod>({
      client: node.client,
      log: node.log,
      path: '/api/v1/pods',
      kind: 'Pod',
      apiVersion: 'v1',
      selector: { fieldSelector: `spec.nodeName=${node.config.nodeName}` },
      keyOf: uidOf,
      onChange: (pod) => this.#wake(pod),
      backoff: retryBackoff,
    })
  }

  /** Adopts running pods, starts missing ones, and stops pods that should not run. */
  async start(): Promise<void> {
    await mkdir(podsFolder(this.#node.config.stateDir), { recursive: true, mode: 0o700 })
    const leftOver = await listPodFolders(this.#node.config.stateDir)
    this.#watched.start()
    await this.#watched.synced
    for (const identity of leftOver) this.#work(identity)
  }

  /** Stops all pods, each within its grace period and all by the deadline. Their objects stay. */
  async stop(deadline: number): Promise<void> {
    this.#stopBy = deadline
    for (const worker of this.#workers.values()) worker.suspend(deadline)
    await Promise.all(this.#running)
    await this.#watched.stop()
  }

  list(): Pod[] {
    return this.#watched.list()
  }

  find(namespace: string, name: string): Pod | undefined {
    const found = this.list().filter((pod) => pod.metadata?.namespace === namespace && pod.metadata.name === name)
    return found.find((pod) => !pod.metadata?.deletionTimestamp) ?? found[0]
  }

  /** The runs of a pod's container, newest first. */
  async listRuns(pod: Pod, container: string): Promise<Run[]> {
    const folder = new PodFolder(this.#node.config.stateDir, uidOf(pod))
    return listRuns(folder.container(container))
  }

  #wake(pod: Pod): void {
    const { uid = '', namespace = '', name = '' } = pod.metadata
    const worker = this.#workers.get(uid)
    if (worker) worker.wake()
    else if (this.#watched.get(uid)) this.#work({ uid, namespace, name })
  }

  #work(identity: PodIdentity): void {
    const { uid } = identity
    if (this.#workers.has(uid) || this.#stopBy !== undefined) return
    const readPod = () => this.#watched.get(uid)
    const worker = new PodWorker({ node: this.#node, addresses: this.#addresses, identity, readPod })
    this.#workers.set(uid, worker)
    const end = worker.run().finally(() => {
      this.#workers.delete(uid)
      this.#running.delete(end)
    })
    this.#running.add(end)
  }
}
