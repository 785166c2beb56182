import type { EnginePods } from './engine-pods.ts'
import { AdapterHistory } from './adapter-history.ts'
import { BaseModelEngines, type EngineLease, type EngineSearch } from './base-model-engines.ts'
import { HeldRequests } from './held-requests.ts'

/** How long and how many requests wait for an engine. */
export interface HoldLimits {
  /** how long a request waits */
  seconds: number
  /** how many are held while no engine of their model is ready */
  requests: number
}

/** Finds engines for requests. */
export class EngineRouter {
  readonly #pods: Pick<EnginePods, 'listReady'>
  readonly #holdMs: number
  readonly #held: HeldRequests
  readonly #history = new AdapterHistory()
  /** By the resource name of the base model; one without pods and requests has no entry. */
  readonly #engines = new Map<string, BaseModelEngines>()

  constructor(pods: Pick<EnginePods, 'listReady' | 'onChange'>, hold: HoldLimits) {
    this.#pods = pods
    this.#holdMs = hold.seconds * 1_000
    this.#held = new HeldRequests(hold.requests)
    pods.onChange(() => this.#update())
  }

  /** The latest time, on the process's clock, until which a request of now waits. */
  get deadlineMs(): number {
    return performance.now() + this.#holdMs
  }

  /** A place at an engine of a base model, if there is one now. */
  tryAcquire(baseModelCrName: string, search: EngineSearch): EngineLease | undefined {
    return this.#enginesOf(baseModelCrName).tryAcquire(search)
  }

  /** A place at an engine of a base model, for which it waits. @throws {HttpError} 503 when there is none in time */
  acquire(baseModelCrName: string, search: EngineSearch): Promise<EngineLease> {
    return this.#enginesOf(baseModelCrName).acquire(search)
  }

  /** Answers the requests that wait, and lets the others end. */
  close(): void {
    this.#held.close()
  }

  #enginesOf(baseModelCrName: string): BaseModelEngines {
    const known = this.#engines.get(baseModelCrName)
    if (known) return known
    const engines = new BaseModelEngines(this.#held, this.#history)
    engines.update(this.#pods.listReady(baseModelCrName))
    this.#engines.set(baseModelCrName, engines)
    return engines
  }

  #update(): void {
    for (const [baseModelCrName, engines] of this.#engines) {
      engines.update(this.#pods.listReady(baseModelCrName))
      if (engines.isIdle) this.#engines.delete(baseModelCrName)
    }
  }
}
