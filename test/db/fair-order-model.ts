/** A job that waits or runs. */
interface ModelJob {
  id: string
  entity: string
  model: string
  priority: number
}

interface EntityQueue {
  weight: number
  /** The virtual time when its last job ends. */
  end: number
  jobSeconds: number
  /** What ended attempts have used, until its next claim counts them. */
  used: number[]
  /** How many claims of others have passed since it could have claimed. */
  waits: number
}

/**
 * Start-time fair queueing as its paper says it, for one base model, without a database: a test compares the claims with
 * it. Equal starts may come in any order.
 */
export class FairOrderModel {
  readonly #jobs: ModelJob[] = []
  readonly #running = new Map<string, { job: ModelJob; cost: number }>()
  readonly #queues: Map<string, EntityQueue>
  #now = 0
  maxWait = 0

  constructor(weights: ReadonlyMap<string, number>) {
    const queue = (weight: number): EntityQueue => ({ weight, end: 0, jobSeconds: 60, used: [], waits: 0 })
    this.#queues = new Map([...weights].map(([entity, weight]) => [entity, queue(weight)]))
  }

  get waiting(): number {
    return this.#jobs.length
  }

  get running(): string[] {
    return [...this.#running.keys()]
  }

  add(job: ModelJob): void {
    this.#jobs.push(job)
  }

  end(id: string, seconds: number): void {
    const { job, cost } = this.#running.get(id)!
    this.#running.delete(id)
    const queue = this.#queues.get(job.entity)!
    queue.used.push(seconds)
    queue.end += seconds / queue.weight - cost
  }

  /** Claims a job. Returns what is wrong with that. */
  check(id: string | undefined): string | undefined {
    const ready = this.#listReady()
    const starts = new Map(ready.map(({ entity }) => [entity, Math.max(this.#now, this.#queues.get(entity)!.end)]))
    const least = Math.min(...starts.values())
    const job = ready.find((each) => each.id === id)
    if (!job)
      return id === undefined && ready.length === 0 ? undefined : `${id} is not one of ${ready.length} ready jobs`
    const start = starts.get(job.entity)!
    // Sums of fractions differ in their last digits.
    if (start > least + 1e-6) return `its entity starts at ${start}, and another one at ${least}`
    const first = ready.find(({ entity }) => entity === job.entity)
    if (first !== job) return `its entity has a more important or an earlier job: ${first?.id}`
    this.#claim(job, start)
    this.#countWaits(job, starts)
    return undefined
  }

  /** The first job of each model that has none running: the most important ones first, then in order of arrival. */
  #listReady(): ModelJob[] {
    const busy = new Set([...this.#running.values()].map(({ job }) => job.model))
    const heads = new Map<string, { job: ModelJob; priority: number }>()
    for (const job of this.#jobs.filter(({ model }) => !busy.has(model))) {
      const head = heads.get(job.model) ?? { job, priority: job.priority }
      heads.set(job.model, { ...head, priority: Math.max(head.priority, job.priority) })
    }
    return [...heads.values()]
      .toSorted((a, b) => b.priority - a.priority || this.#rank(a) - this.#rank(b))
      .map(({ job }) => job)
  }

  #rank({ job }: { job: ModelJob }): number {
    return this.#jobs.indexOf(job)
  }

  #claim(job: ModelJob, start: number): void {
    const queue = this.#queues.get(job.entity)!
    queue.jobSeconds = queue.used.reduce((sum, each) => sum + each, queue.jobSeconds) / (1 + queue.used.length)
    queue.used = []
    const cost = queue.jobSeconds / queue.weight
    queue.end = start + cost
    this.#now = Math.max(this.#now, start)
    this.#running.set(job.id, { job, cost })
    this.#jobs.splice(this.#jobs.indexOf(job), 1)
  }

  #countWaits({ entity }: ModelJob, starts: ReadonlyMap<string, number>): void {
    for (const [name, queue] of this.#queues) {
      queue.waits = name === entity || !starts.has(name) ? 0 : queue.waits + 1
      this.maxWait = Math.max(this.maxWait, queue.waits)
    }
  }
}
