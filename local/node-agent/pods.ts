import { mkdir } from 'node:fs/promises'
import type { Addresses } from './addresses.ts'
import type { Pod } from './kube.ts'
import type { NodeContext } from './pod-context.ts'
import { listPodFolders, PodFolder, podsFolder, type PodIdentity } from './pod-folder.ts'
import { PodWorker } from './pod-worker.ts'
import { Reflector } from './reflector.ts'
import { listRuns, type Run } from './run.ts'

/** All pods of this node: one worker for each that is in the cluster or still has something on the machine. */
export class Pods {
  private readonly node: NodeContext
  private readonly addresses: Addresses
  private readonly watched: Reflector<Pod>
  private readonly workers = new Map<string, PodWorker>()
  private readonly running = new Set<Promise<void>>()
  private stopBy: number | undefined

  constructor(node: NodeContext, addresses: Addresses) {
    this.node = node
    this.addresses = addresses
    this.watched = new Reflector<Pod>({
      client: node.client,
      log: node.log,
      path: '/api/v1/pods',
      query: { fieldSelector: `spec.nodeName=${node.config.nodeName}` },
      onChange: (uid) => this.wake(uid),
    })
  }

  /** Takes over what runs, starts what should, and ends what should not. */
  async start(): Promise<void> {
    await mkdir(podsFolder(this.node.config.stateDir), { recursive: true, mode: 0o700 })
    const leftOver = await listPodFolders(this.node.config.stateDir)
    await this.watched.start()
    for (const identity of leftOver) this.work(identity)
  }

  /** Stops all pods, each within its grace period and all by the deadline; their objects stay. */
  async stop(deadline: number): Promise<void> {
    this.stopBy = deadline
    for (const worker of this.workers.values()) worker.suspend(deadline)
    await Promise.all(this.running)
    this.watched.stop()
  }

  list(): Pod[] {
    return this.watched.list()
  }

  find(namespace: string, name: string): Pod | undefined {
    const found = this.list().filter((pod) => pod.metadata?.namespace === namespace && pod.metadata.name === name)
    return found.find((pod) => !pod.metadata?.deletionTimestamp) ?? found[0]
  }

  /** The runs of a pod's container, newest first. */
  async listRuns(pod: Pod, container: string): Promise<Run[]> {
    const folder = new PodFolder(this.node.config.stateDir, pod.metadata?.uid ?? '')
    return listRuns(folder.container(container))
  }

  private wake(uid: string): void {
    const { namespace = '', name = '' } = this.watched.get(uid)?.metadata ?? {}
    const worker = this.workers.get(uid)
    if (worker) worker.wake()
    else if (name) this.work({ uid, namespace, name })
  }

  private work(identity: PodIdentity): void {
    const { uid } = identity
    if (this.workers.has(uid) || this.stopBy !== undefined) return
    const readPod = () => this.watched.get(uid)
    const worker = new PodWorker({ node: this.node, addresses: this.addresses, identity, readPod })
    this.workers.set(uid, worker)
    const end = worker.run().finally(() => {
      this.workers.delete(uid)
      this.running.delete(end)
    })
    this.running.add(end)
  }
}
