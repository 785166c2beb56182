import type { BaseModel } from '../../crds/generated.ts'
import { isTerminal } from '../../crds/job-states.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { findResourceName } from '../component-pods.ts'
import type { OperatorEvents } from '../metrics/events.ts'
import type { JobFacts } from './plan.ts'
import type { JobStatus } from './status.ts'

interface Deps {
  baseModels: ObjectCache<BaseModel>
  events: OperatorEvents
}

/** Counts a job when a new status of its resource is the first that says that it has ended. */
export function countEnd(
  { baseModels, events }: Deps,
  { resource, job }: JobFacts,
  { phase = 'Pending' }: JobStatus,
): void {
  if (!job || !isTerminal(phase) || isTerminal(resource.status?.phase ?? 'Pending')) return
  events.recordJobEnd(findResourceName(baseModels, job.baseModel), phase)
}
