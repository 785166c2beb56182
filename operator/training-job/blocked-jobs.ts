/** The jobs that wait for something of their model. All keys are those of resources. */
export class BlockedJobs {
  readonly #byModel = new Map<string, Set<string>>()

  /** Says whether a job waits for its model. */
  record(jobKey: string, modelKey: string, waits: boolean): void {
    const jobs = this.#byModel.get(modelKey) ?? new Set()
    if (waits) jobs.add(jobKey)
    else jobs.delete(jobKey)
    if (jobs.size > 0) this.#byModel.set(modelKey, jobs)
    else this.#byModel.delete(modelKey)
  }

  /** The jobs that wait for a model, in the order in which they came. */
  list(modelKey: string): string[] {
    return [...(this.#byModel.get(modelKey) ?? [])]
  }
}
