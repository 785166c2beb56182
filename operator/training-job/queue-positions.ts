import { listQueuePositions, type QueuePosition } from '../../db/jobs/queue.ts'
import type { QueueDeps } from '../../db/jobs/queue-blocks.ts'

// One query reads the positions of all jobs. A burst of new jobs makes two of them a second.
const minAgeMs = 500
const maxAgeMs = 2_000

interface Snapshot {
  takenAt: number
  positions: Map<string, QueuePosition>
}

/** The positions of the waiting jobs, for their statuses. They are read for all jobs at once, because each depends on others. */
export class QueuePositions {
  readonly #deps: QueueDeps
  #snapshot: Snapshot = { takenAt: -Infinity, positions: new Map() }
  #reading: Promise<Snapshot> | undefined

  constructor(deps: QueueDeps) {
    this.#deps = deps
  }

  /** How many jobs wait. */
  get size(): number {
    return this.#snapshot.positions.size
  }

  /** The position of a job that has waited for at least a second. Undefined if it waits no more. */
  async find(jobId: string): Promise<QueuePosition | undefined> {
    const { takenAt, positions } = this.#snapshot
    const maxMs = positions.has(jobId) ? maxAgeMs : minAgeMs
    if (performance.now() - takenAt < maxMs) return positions.get(jobId)
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    this.#snapshot = await this.#reading
    return this.#snapshot.positions.get(jobId)
  }

  async #read(): Promise<Snapshot> {
    const takenAt = performance.now()
    return { takenAt, positions: await listQueuePositions(this.#deps) }
  }
}
