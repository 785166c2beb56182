import { uidOf, type Deployment } from '../../../lib/kube/objects.ts'

/**
 * Which state of a Deployment was applied here. Each change of its specification has a new generation, so a later one is
 * a change by somebody else. After a restart every Deployment is applied once.
 */
export class AppliedGenerations {
  /** By the uid of the Deployment. */
  readonly #generations = new Map<string, number>()

  record(applied: Deployment, present: Deployment[]): void {
    const uids = new Set(present.map(uidOf))
    for (const uid of this.#generations.keys()) if (!uids.has(uid)) this.#generations.delete(uid)
    this.#generations.set(uidOf(applied), generationOf(applied))
  }

  /** Whether it was applied since our start. */
  has(present: Deployment): boolean {
    return this.#generations.has(uidOf(present))
  }

  /** A copy that is older than what was applied has not drifted. */
  isDrifted(present: Deployment): boolean {
    return generationOf(present) > (this.#generations.get(uidOf(present)) ?? -1)
  }
}

function generationOf({ metadata }: Deployment): number {
  return metadata.generation ?? 0
}
