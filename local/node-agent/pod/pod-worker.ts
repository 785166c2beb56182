import { backoffMs } from '../../../lib/backoff.ts'
import { deleteObjectNow } from '../../../lib/kube/apply.ts'
import { podPath } from '../../../lib/kube/paths.ts'
import type { Addresses } from '../network/addresses.ts'
import { retryBackoff } from '../container/backoff.ts'
import { ContainerKeeper } from '../container/container.ts'
import { findUnsupported, listPretended } from './supported-fields.ts'
import type { Pod } from '../objects.ts'
import type { NodeContext, PodContext } from './pod-context.ts'
import { PodFolder, type PodIdentity } from './pod-folder.ts'
import { StatusReporter } from './status-reporter.ts'
import { buildPodStatus, toSeconds } from './status.ts'
import { PodVolumes } from '../volumes/volumes.ts'

interface WorkerOptions {
  node: NodeContext
  addresses: Addresses
  identity: PodIdentity
  /** The pod in kube-apiserver. Undefined when it is gone. */
  readPod: () => Pod | undefined
}

// A pod is synced at least this often. Each sync also rotates its logs.
const resyncMs = 10_000
const refreshVolumesMs = 60_000
// The grace period of a pod without an object, as in a kubelet.
const orphanGraceMs = 2000

/** Brings one pod to its desired state, step by step, from its spec and from what runs on the machine. */
export class PodWorker {
  readonly #options: WorkerOptions
  readonly #folder: PodFolder
  readonly #reporter: StatusReporter
  #context: PodContext | undefined
  #init: ContainerKeeper[] = []
  #main: ContainerKeeper[] = []
  #failure: { reason: string; message: string } | undefined
  #volumesWrittenAt = 0
  #stopBy: number | undefined
  #endBy: number | undefined
  #isDeleted = false
  #isWoken = true
  #isDone = false
  #wakeUp: () => void = () => undefined

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#folder = new PodFolder(options.node.config.stateDir, options.identity.uid)
    this.#reporter = new StatusReporter(options.node.client)
  }

  /** Starts another sync now. */
  wake(): void {
    this.#isWoken = true
    this.#wakeUp()
  }

  /** From now on the pod is only stopped. It continues after the next start of the node. */
  suspend(deadline: number): void {
    this.#stopBy = deadline
    this.wake()
  }

  /** Works until the pod is gone from machine and cluster, or until it is stopped with the node. */
  async run(): Promise<void> {
    let failures = 0
    while (!this.#isDone) {
      this.#isWoken = false
      let waitMs = resyncMs
      try {
        waitMs = await this.#sync()
        failures = 0
      } catch (error) {
        failures += 1
        waitMs = backoffMs(failures, retryBackoff)
        this.#options.node.log.warn({ pod: this.#options.identity, error }, 'pod not brought up to date')
      }
      if (!this.#isDone) await this.#pause(Math.min(waitMs, resyncMs))
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isWoken) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, Math.max(ms, 10))
    this.#wakeUp = resolve
    await promise
    clearTimeout(timer)
  }

  async #sync(): Promise<number> {
    const watched = this.#options.readPod()
    const pod = watched && this.#reporter.newest(watched)
    await this.#prepare(pod)
    for (const keeper of this.#keepers) await keeper.observe()
    if (!pod) return this.#discard()
    if (this.#stopBy !== undefined) return this.#halt(pod, this.#stopBy)
    if (pod.metadata?.deletionTimestamp) return this.#terminate(pod)
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed')
      return this.#stopAll('the pod has ended', pod)
    return this.#advance(pod)
  }

  get #keepers(): ContainerKeeper[] {
    return [...this.#init, ...this.#main]
  }

  get #isRunning(): boolean {
    return this.#keepers.some((keeper) => keeper.isRunning)
  }

  // A pod that is gone needs keepers for all containers that have ever run.
  async #prepare(pod: Pod | undefined): Promise<void> {
    if (this.#context) return
    const { node, addresses, identity } = this.#options
    if (pod) await this.#folder.create(identity)
    const podIP = pod ? await addresses.allocate(identity.uid) : ''
    const context = {
      ...node,
      subject: { kind: 'Pod', ...identity },
      folder: this.#folder,
      podIP,
      volumes: new PodVolumes({ client: node.client, folder: this.#folder, podIP }),
      wake: () => this.wake(),
    }
    const leftOver = (await this.#folder.listContainers()).map((name) => ({ name }))
    this.#init = (pod?.spec?.initContainers ?? []).map((spec) => new ContainerKeeper(context, spec, true))
    this.#main = (pod?.spec?.containers ?? leftOver).map((spec) => new ContainerKeeper(context, spec, false))
    this.#context = context
    if (pod) node.log.info({ pod: identity, ignored: listPretended(pod) }, 'this node ignores these fields of the pod')
  }

  async #advance(pod: Pod): Promise<number> {
    const failure = findFailure(pod)
    if (failure) {
      if (!this.#failure) this.#warn(failure.reason, failure.message)
      this.#failure = failure
      await this.#report(pod, false)
      return this.#stopAll(failure.message, pod)
    }
    const mounted = await this.#writeVolumes(pod)
    if (!mounted) {
      await this.#report(pod, false)
      return backoffMs(2, retryBackoff)
    }
    const waitMs = await this.#keepContainers(pod)
    await this.#report(pod, false)
    return waitMs
  }

  async #keepContainers(pod: Pod): Promise<number> {
    for (const keeper of this.#init) {
      if (keeper.view.runs[0]?.exit?.code === 0) continue
      for (const later of this.#keepers) later.hold('PodInitializing')
      return keeper.keep(pod)
    }
    const waits = await Promise.all(this.#main.map((keeper) => keeper.keep(pod)))
    return Math.min(...waits)
  }

  /** Returns whether all volumes exist. After that, a failed refresh does not stop a container. */
  async #writeVolumes(pod: Pod): Promise<boolean> {
    if (Date.now() - this.#volumesWrittenAt < refreshVolumesMs) return true
    try {
      await this.#context?.volumes.write(pod)
      this.#volumesWrittenAt = Date.now()
      return true
    } catch (error) {
      this.#options.node.log.warn({ pod: this.#options.identity, error }, 'volumes not written')
      this.#warn('FailedMount', `MountVolume failed: ${error instanceof Error ? error.message : String(error)}`)
      return this.#volumesWrittenAt > 0 || this.#isRunning
    }
  }

  /** Handles a pod that is being deleted: stops it within its grace period, reports its end, and deletes the object. */
  async #terminate(pod: Pod): Promise<number> {
    const graceMs = (pod.metadata?.deletionGracePeriodSeconds ?? 30) * 1000
    this.#endBy = Math.min(this.#endBy ?? Infinity, Date.now() + graceMs)
    const waits = this.#keepers.map((keeper) => keeper.stop(this.#endBy ?? 0, 'the pod is being deleted'))
    await this.#report(pod, true)
    if (this.#isRunning) return Math.min(...waits)
    if (this.#isDeleted) return Infinity
    const { namespace, name, uid } = this.#options.identity
    await deleteObjectNow(this.#options.node.client, podPath(namespace, name), uid)
    this.#isDeleted = true
    return Infinity
  }

  /** Handles a pod without an object: stops its processes and removes its folder, by which the next agent finds it, last. */
  async #discard(): Promise<number> {
    this.#endBy ??= Date.now() + orphanGraceMs
    const waits = this.#keepers.map((keeper) => keeper.stop(this.#endBy ?? 0, 'the pod is gone'))
    if (this.#isRunning) return Math.min(...waits)
    await this.#options.addresses.release(this.#options.identity.uid)
    await this.#folder.remove()
    this.#isDone = true
    return Infinity
  }

  /** Handles the stop of the node: the pod stays, its processes end. */
  async #halt(pod: Pod, deadline: number): Promise<number> {
    const graceMs = (pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000
    this.#endBy = Math.min(this.#endBy ?? Infinity, deadline, Date.now() + graceMs)
    for (const keeper of this.#keepers) await keeper.interrupt()
    const waits = this.#keepers.map((keeper) => keeper.stop(this.#endBy ?? 0, 'the node is stopping'))
    if (this.#isRunning) return Math.min(...waits)
    this.#isDone = true
    // Best effort: kube-apiserver may be stopping too.
    await this.#report(pod, true).catch(() => undefined)
    return Infinity
  }

  #stopAll(why: string, pod: Pod): number {
    this.#endBy ??= Date.now() + (pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000
    return Math.min(...this.#keepers.map((keeper) => keeper.stop(this.#endBy ?? 0, why)))
  }

  async #report(pod: Pod, ending: boolean): Promise<void> {
    const now = toSeconds(new Date())
    const status = buildPodStatus(
      pod,
      {
        podIP: this.#context?.podIP ?? '',
        startTime: pod.status?.startTime ?? now,
        init: this.#init.map((keeper) => keeper.view),
        main: this.#main.map((keeper) => keeper.view),
        ending,
        ...(this.#failure && { failure: this.#failure }),
      },
      now,
    )
    await this.#reporter.report(pod, status)
  }

  #warn(reason: string, message: string): void {
    if (this.#context) this.#options.node.events.warn(this.#context.subject, reason, message)
  }
}

/** The reason why a pod must fail. */
function findFailure(pod: Pod): { reason: string; message: string } | undefined {
  const field = findUnsupported(pod)
  if (field) {
    return { reason: 'UnsupportedByLocalNode', message: `the local node does not honour the pod's field ${field}` }
  }
  const limit = pod.spec?.activeDeadlineSeconds
  const startTime = pod.status?.startTime
  if (limit === undefined || !startTime || Date.now() < Date.parse(startTime) + limit * 1000) return undefined
  return { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' }
}
