import type { EnginePods } from './engine-pods.ts'
import { AdapterHistory } from './adapter-history.ts'
import { BaseModelEngines, type EngineLease, type EngineLoad, type EngineSearch } from './base-model-engines.ts'
import { HeldRequests, unavailable } from './held-requests.ts'
import type { LoadedAdapters } from './loaded-adapters.ts'

const noLongerServed =
  'The base model of this request is not being served any more. GET /v1/models lists all models. Send this request ' +
  'again later if the base model comes back.'

/** How long, and how many, requests wait for an engine. */
export interface HoldLimits {
  /** how long a request waits */
  seconds: number
  /** how many requests are held while no engine of their model is ready */
  requests: number
}

/** Finds engines for requests. */
export class EngineRouter {
  readonly #pods: Pick<EnginePods, 'listReady'>
  readonly #holdMs: number
  readonly #held: HeldRequests
  readonly #history: AdapterHistory
  /** By the resource name of the base model. A base model without pods and requests has no entry. */
  readonly #engines = new Map<string, BaseModelEngines>()
  #onHeld = () => {}

  constructor(pods: Pick<EnginePods, 'listReady' | 'onChange'>, loaded: Pick<LoadedAdapters, 'has'>, hold: HoldLimits) {
    this.#pods = pods
    this.#history = new AdapterHistory(loaded)
    this.#holdMs = hold.seconds * 1_000
    this.#held = new HeldRequests(hold.requests)
    pods.onChange(() => this.#update())
  }

  /** Calls `listener` when a request is held because no engine of its base model is ready. */
  onHeld(listener: () => void): void {
    this.#onHeld = listener
  }

  /** Takes the most requests at once since the last look, of each base model that had some. */
  takePeaks(): Map<string, number> {
    const peaks = [...this.#engines].map(([name, engines]) => [name, engines.takePeak()] as const)
    return new Map(peaks.filter(([, peak]) => peak > 0))
  }

  /** When the wait of a request that arrives now ends, on the process's clock. */
  get deadlineMs(): number {
    return performance.now() + this.#holdMs
  }

  /** Waits for a slot of an engine of a base model. @throws {HttpError} 503 if none becomes free in time */
  acquire(baseModelCrName: string, search: EngineSearch): Promise<EngineLease> {
    return this.#enginesOf(baseModelCrName).acquire(search)
  }

  /** The load of each base model that has pods or requests, by the name of its resource. */
  listLoads(): (EngineLoad & { baseModel: string })[] {
    return [...this.#engines].map(([baseModel, engines]) => ({ baseModel, ...engines.load }))
  }

  /** The base models for whose engines requests wait, by the names of their resources. */
  listAwaited(): string[] {
    return [...this.#engines].filter(([, engines]) => engines.isAwaited).map(([name]) => name)
  }

  /** Answers the requests that wait for engines of a base model that is not served any more. */
  rejectWaiting(baseModelCrName: string): void {
    this.#engines.get(baseModelCrName)?.rejectWaiting(unavailable(noLongerServed))
  }

  /** Answers the requests that wait, and lets the others finish. */
  close(): void {
    this.#held.close()
  }

  #enginesOf(baseModelCrName: string): BaseModelEngines {
    const known = this.#engines.get(baseModelCrName)
    if (known) return known
    const engines = new BaseModelEngines(this.#held, this.#history, () => this.#onHeld())
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
