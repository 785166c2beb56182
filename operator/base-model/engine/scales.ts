import { planScale, type ScaleBounds, type ScaleHistory, type ScaleObservation } from './scale.ts'

/** The histories of what the operator scales. They begin anew with each operator. */
export class Scales {
  /** By the name of a base model and its component. */
  readonly #histories = new Map<string, ScaleHistory>()

  /** Decides the number of replicas, and remembers what was needed. */
  decide(key: string, bounds: ScaleBounds, observation: ScaleObservation): number {
    const { replicas, history } = planScale(this.#histories.get(key) ?? [], bounds, observation)
    this.#histories.set(key, history)
    return replicas
  }

  forget(key: string): void {
    this.#histories.delete(key)
  }
}
