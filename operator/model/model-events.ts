import { conditions, reasons } from '../../crds/names.ts'
import type { EventSpec } from '../../lib/kube/events.ts'
import type { ModelStatus } from './status.ts'

// A Model may be created before its BaseModel. This needs no event, because it resolves itself.
const unreported: ReadonlySet<string> = new Set([reasons.baseModelNotAccepted, reasons.servesNewestStep])

/** The Kubernetes Events between two statuses of a model. */
export function diffModelEvents(before: ModelStatus | undefined, after: ModelStatus): EventSpec[] {
  return [
    ...diffCondition(before, after, { type: conditions.accepted, good: 'True' }),
    ...diffCondition(before, after, { type: conditions.degraded, good: 'False' }),
  ]
}

function diffCondition(
  before: ModelStatus | undefined,
  after: ModelStatus,
  { type, good }: { type: string; good: 'True' | 'False' },
): EventSpec[] {
  const find = (of: ModelStatus | undefined) => of?.conditions?.find((condition) => condition.type === type)
  const [earlier, now] = [find(before), find(after)]
  if (!now || unreported.has(now.reason) || (earlier?.status === now.status && earlier.reason === now.reason)) return []
  const { reason, message } = now
  return [{ type: now.status === good ? 'Normal' : 'Warning', reason, message }]
}
