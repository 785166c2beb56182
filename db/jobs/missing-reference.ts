import type { JobFailure } from './attempts.ts'

/** A job names a reference step that does not exist. */
export class ReferenceMissing extends Error {
  override name = 'ReferenceMissing'
  readonly jobId: string
  private readonly step: number
  private readonly lag: number | undefined

  constructor({ id, config }: { id: string; config: Record<string, unknown> }, step: number) {
    super(`job ${id} has no reference step ${step}`)
    this.jobId = id
    this.step = step
    this.lag = config['kl_penalty_step_lag'] as number | undefined
  }

  describe(): JobFailure {
    const named =
      this.lag === undefined
        ? `kl_penalty_reference_step is ${this.step}`
        : `kl_penalty_step_lag is ${this.lag}, so that the reference is step ${this.step}`
    const message = `${named}, but the model has no such step, or it was deleted`
    return { category: 'User', reason: 'StepNotFound', message, retryable: false }
  }
}
