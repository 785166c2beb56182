import { Counter, Histogram, type Registry } from 'prom-client'
import type { TerminalState } from '../../crds/job-states.ts'
import { durationBuckets } from '../../lib/metrics/durations.ts'
import { operatorMetrics } from './table.ts'

const { counters, histograms } = operatorMetrics

/** A difference between cluster, database and store. */
export type Drift =
  | ('model_resource_lost' | 'job_resource_lost' | 'job_row_lost' | 'job_resource_deleted')
  | ('model_row_lost' | 'pod_unwanted' | 'deployment_changed' | 'file_unreferenced')

/** Counts what happens in the operator. Base models are named by their resources. */
export class OperatorEvents {
  /** An engine rejects an adapter that it has read and cannot use. */
  readonly #adapterLoads: Counter<'base_model' | 'outcome'>
  readonly #jobsEnded: Counter<'base_model' | 'state'>
  readonly #drift: Counter<'case'>
  readonly #loadDurations: Histogram<'base_model'>
  readonly #publishToServed: Histogram<'base_model'>
  readonly #coldStarts: Histogram<'base_model'>

  constructor(registry: Registry) {
    const registers = [registry]
    const buckets = durationBuckets
    this.#adapterLoads = new Counter({ ...counters.adapterLoads, registers })
    this.#jobsEnded = new Counter({ ...counters.jobsEnded, registers })
    this.#drift = new Counter({ ...counters.drift, registers })
    this.#loadDurations = new Histogram({ ...histograms.adapterLoadDurations, buckets, registers })
    this.#publishToServed = new Histogram({ ...histograms.publishToServed, buckets, registers })
    this.#coldStarts = new Histogram({ ...histograms.coldStarts, buckets: coldStartBuckets, registers })
  }

  recordDrift(drift: Drift, count = 1): void {
    this.#drift.inc({ case: drift }, count)
  }

  recordLoaded(baseModel: string, seconds: number): void {
    this.#adapterLoads.inc({ base_model: baseModel, outcome: 'loaded' })
    this.#loadDurations.observe({ base_model: baseModel }, seconds)
  }

  recordNotLoaded(baseModel: string, outcome: 'rejected' | 'failed'): void {
    this.#adapterLoads.inc({ base_model: baseModel, outcome })
  }

  recordPublished(baseModel: string, seconds: number): void {
    this.#publishToServed.observe({ base_model: baseModel }, seconds)
  }

  recordColdStart(baseModel: string, seconds: number): void {
    this.#coldStarts.observe({ base_model: baseModel }, seconds)
  }

  recordJobEnd(baseModel: string, state: TerminalState): void {
    this.#jobsEnded.inc({ base_model: baseModel, state })
  }
}

// A first start downloads the weights, which may take hours.
const coldStartBuckets = [5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400]
