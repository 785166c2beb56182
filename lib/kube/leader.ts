import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { readObject } from './apply.ts'
import type { KubeClient } from './client.ts'
import { isConflict } from './error.ts'
import { formatMicroTime } from './micro-time.ts'
import { leasePath } from './paths.ts'

interface LeaseObject {
  apiVersion: 'coordination.k8s.io/v1'
  kind: 'Lease'
  metadata: { name: string; namespace: string; resourceVersion?: string }
  spec: LeaseSpec
}

interface LeaseSpec {
  holderIdentity: string
  leaseDurationSeconds: number
  acquireTime: string
  renewTime: string
  leaseTransitions: number
}

interface ElectorOptions {
  client: KubeClient
  namespace: string
  /** The name of the Lease. */
  name: string
  /**
   * Our pod's name. A container that restarts in the same pod has its Lease again at once. That is safe, because
   * Kubernetes runs only one container of a name in a pod at a time.
   */
  identity: string
  /** Called once when the Lease was ours and is lost. The process must end at once. */
  onLost: () => void
  log: Logger
  times?: LeaseTimes
}

interface LeaseTimes {
  /** Others may take the Lease if its record has not changed for this long. */
  durationMs: number
  /** We give up if we have not renewed it for this long. It is shorter, so that we stop before somebody else starts. */
  renewDeadlineMs: number
  retryMs: number
}

/** Whether the Lease is ours or held by another process. `unknown`: the server did not answer. */
export type LeaseState = 'ours' | 'held' | 'unknown'

const defaultTimes: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 }

/**
 * Elects one leader among processes with a Lease.
 *
 * The times in a record are ignored, because the clocks of machines differ. A record has expired if it has not changed
 * for its duration on our own clock.
 */
export class LeaderElector {
  readonly #options: Required<ElectorOptions>
  readonly #stop = new AbortController()
  #seen = { record: '', at: 0 }
  #renewedAt = -Infinity
  #working: Promise<unknown> = Promise.resolve()
  #state: LeaseState = 'unknown'

  constructor(options: ElectorOptions) {
    this.#options = { times: defaultTimes, ...options }
  }

  /** What the last attempt to acquire or renew the Lease has found. */
  get state(): LeaseState {
    return this.#state
  }

  /** Waits until the Lease is ours, then renews it in the background. Returns false if it is released before. */
  async acquire(): Promise<boolean> {
    const acquiring = this.#waitForLease()
    this.#working = acquiring
    if (!(await acquiring)) return false
    this.#options.log.info({ identity: this.#options.identity }, 'leading')
    this.#working = this.#renew()
    return true
  }

  /** Gives up the Lease, so that the next leader need not wait for its end. */
  async release(): Promise<void> {
    this.#stop.abort()
    // An attempt that is under way would take the Lease again.
    await this.#working
    const { client } = this.#options
    const lease = await readObject<LeaseObject>(client, this.#path())
    if (lease?.spec.holderIdentity !== this.#options.identity) return
    await this.#put(lease, {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: formatMicroTime(new Date()),
    })
  }

  async #waitForLease(): Promise<boolean> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      if ((await this.#tryOnce()) === 'ours') return !signal.aborted
      await delay(this.#options.times.retryMs, undefined, { signal }).catch(() => {})
    }
    return false
  }

  async #renew(): Promise<void> {
    const { times, onLost, log } = this.#options
    const { signal } = this.#stop
    while (!signal.aborted) {
      await delay(times.retryMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      // The renewal races against the deadline: a hanging request must not keep us leader after others have taken over.
      const left = Math.max(0, this.#renewedAt + times.renewDeadlineMs - performance.now())
      const outcome = await Promise.race([this.#tryOnce(), delay(left, 'unknown' as const)])
      if (outcome === 'held' || performance.now() - this.#renewedAt >= times.renewDeadlineMs) {
        log.error('the lease is lost')
        onLost()
        return
      }
    }
  }

  /** Tries once to acquire or renew the Lease. */
  async #tryOnce(): Promise<LeaseState> {
    const startedAt = performance.now()
    try {
      this.#state = await this.#acquireOrRenew()
      if (this.#state === 'ours') this.#renewedAt = startedAt
    } catch (error) {
      if (!isConflict(error)) this.#options.log.warn({ error }, 'asking for the lease failed')
      this.#state = 'unknown'
    }
    return this.#state
  }

  async #acquireOrRenew(): Promise<LeaseState> {
    const { client, identity } = this.#options
    const lease = await readObject<LeaseObject>(client, this.#path())
    if (!lease) return this.#create()
    this.#observe(lease.spec)
    const { holderIdentity, leaseTransitions, acquireTime } = lease.spec
    if (holderIdentity === identity) return this.#put(lease, { ...this.#record(leaseTransitions), acquireTime })
    if (holderIdentity && !this.#isExpired(lease.spec)) return 'held'
    return this.#put(lease, this.#record(leaseTransitions + 1))
  }

  async #create(): Promise<LeaseState> {
    const { client, namespace, name } = this.#options
    const lease: LeaseObject = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
      spec: this.#record(0),
    }
    await client.request({ method: 'POST', path: leasePath(namespace), body: lease })
    return 'ours'
  }

  /** Sends the version that was read: if another process wrote meanwhile, it wins, and we get a 409. */
  async #put(lease: LeaseObject, spec: LeaseSpec): Promise<LeaseState> {
    await this.#options.client.request({ method: 'PUT', path: this.#path(), body: { ...lease, spec } })
    return 'ours'
  }

  #observe(spec: LeaseSpec): void {
    const record = JSON.stringify(spec)
    if (record !== this.#seen.record) this.#seen = { record, at: performance.now() }
  }

  #isExpired(spec: LeaseSpec): boolean {
    return performance.now() - this.#seen.at > spec.leaseDurationSeconds * 1000
  }

  #record(leaseTransitions: number): LeaseSpec {
    const { identity, times } = this.#options
    const now = formatMicroTime(new Date())
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.max(1, Math.round(times.durationMs / 1000)),
      acquireTime: now,
      renewTime: now,
      leaseTransitions,
    }
  }

  #path(): string {
    return leasePath(this.#options.namespace, this.#options.name)
  }
}
