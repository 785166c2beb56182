import { listQueuePlaces, type QueuePlace } from '../../db/jobs/queue.ts'
import type { QueueDeps } from '../../db/jobs/queue-blocks.ts'

// One query reads the places of all jobs. A burst of new jobs makes two of them a second.
const minAgeMs = 500
const maxAgeMs = 2_000

interface Snapshot {
  takenAt: number
  places: Map<string, QueuePlace>
}

/** The places of the waiting jobs, for their statuses. They are read for all jobs at once, because each depends on others. */
export class QueuePlaces {
  readonly #deps: QueueDeps
  #snapshot: Snapshot = { takenAt: -Infinity, places: new Map() }
  #reading: Promise<Snapshot> | undefined

  constructor(deps: QueueDeps) {
    this.#deps = deps
  }

  /** How many jobs wait. */
  get size(): number {
    return this.#snapshot.places.size
  }

  /** The place of a job that has waited for at least a second. Undefined if it waits no more. */
  async find(jobId: string): Promise<QueuePlace | undefined> {
    const { takenAt, places } = this.#snapshot
    const maxMs = places.has(jobId) ? maxAgeMs : minAgeMs
    if (performance.now() - takenAt < maxMs) return places.get(jobId)
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    this.#snapshot = await this.#reading
    return this.#snapshot.places.get(jobId)
  }

  async #read(): Promise<Snapshot> {
    const takenAt = performance.now()
    return { takenAt, places: await listQueuePlaces(this.#deps) }
  }
}
