import type { StoredCall } from '../../../db/tracing/call-rows.ts'
import { toMicros } from '../instants.ts'

export type CallStatus = 'running' | 'success' | 'error' | 'descendant_error'

/** The members of a call's summary that the server computes. */
export interface DerivedSummary {
  status: CallStatus
  latency_ms?: number
  display_name?: string
  trace_name?: string
}

export function deriveSummary(call: StoredCall): DerivedSummary {
  const { display_name: displayName, ended_at: endedAt, started_at: startedAt } = call
  return {
    status: statusOf(call),
    ...(endedAt && { latency_ms: Math.floor((toMicros(endedAt) - toMicros(startedAt)) / 1_000) }),
    ...(displayName ? { display_name: displayName } : { trace_name: nameOp(call.op_name) }),
  }
}

function statusOf({ exception, ended_at: endedAt, descendant_errors: failedBelow }: StoredCall): CallStatus {
  if (exception !== null && exception !== undefined) return 'error'
  if (!endedAt) return 'running'
  return failedBelow ? 'descendant_error' : 'success'
}

/** Returns NAME of `weave:///entity/project/op/NAME:DIGEST`, and any other name unchanged. */
export function nameOp(opName: string): string {
  return /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^/:]+):/.exec(opName)?.[1] ?? opName
}
