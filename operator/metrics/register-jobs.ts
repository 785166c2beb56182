import type { Registry } from 'prom-client'
import { isTerminal, jobPhases } from '../../crds/job-states.ts'
import type { BaseModel } from '../../crds/generated.ts'
import { countPauses } from '../../db/accounts/pauses.ts'
import { countUnfinishedJobs } from '../../db/jobs/count-unfinished.ts'
import type { Pool } from '../../db/pool.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { registerGauge, type Sample } from '../../lib/metrics/computed.ts'
import type { MetricDefinition } from '../../lib/metrics/definition.ts'
import { shareCheck } from '../../lib/shared-check.ts'
import { operatorMetrics } from './table.ts'

interface Deps {
  pool: Pool
  baseModels: ObjectCache<BaseModel>
  /** Only the leader counts jobs, so that the replicas' numbers can be added. */
  isLeading: () => boolean
}

// Whoever reaches the port can cause one query in this time.
const keepMs = 5_000
const unfinishedStates = jobPhases.filter((state) => !isTerminal(state))

/** Registers the numbers of unfinished jobs and of pauses. */
export function registerJobMetrics(registry: Registry, { pool, baseModels, isLeading }: Deps): void {
  const { jobs, pauses } = operatorMetrics.gauges
  const register = (definition: MetricDefinition, list: () => Promise<Sample[]>) => {
    const share = shareCheck(list, keepMs)
    // Without Postgres there is no number, and the other metrics are still served.
    registerGauge(registry, definition, () => (isLeading() ? share().catch(() => []) : []))
  }
  register(jobs, async () => {
    const counts = await countUnfinishedJobs(pool)
    const found = counts.map(({ baseModel, state, count: value }) => ({
      labels: { base_model: baseModel, state },
      value,
    }))
    return [...listZeros(baseModels), ...found]
  })
  register(pauses, async () =>
    Object.entries(await countPauses(pool)).map(([pause, value]) => ({ labels: { pause }, value })),
  )
}

/** A base model without jobs has zeros. Later samples with the same labels replace them. */
function listZeros(baseModels: ObjectCache<BaseModel>): Sample[] {
  return baseModels
    .list()
    .flatMap(({ metadata }) =>
      unfinishedStates.map((state) => ({ labels: { base_model: metadata.name ?? '', state }, value: 0 })),
    )
}
