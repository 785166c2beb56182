import { reasons } from '../../../crds/names.ts'
import type { EventSpec } from '../../../lib/kube/events.ts'
import type { StatusReason } from '../../conditions.ts'

// The sentence of Kubernetes' admission of Pod Security: the standard, and the fields that break it.
const violation = /violates PodSecurity "([^"]+)": (.+)$/s

/** Why Kubernetes does not create pods. If the namespace enforces a Pod Security Standard, says what to change. */
export function explainRejectedPods({ reason, message }: StatusReason): StatusReason {
  const [, standard, fields] = violation.exec(message) ?? []
  if (standard === undefined || fields === undefined) return { reason, message }
  return {
    reason: reasons.podSecurityViolation,
    message:
      `The namespace enforces the Pod Security Standard ${standard}, and the pods of this BaseModel break it: ${fields}. ` +
      "Change its podTemplate, its cache, or the chart's podSecurityContext and artifacts.hostPath.",
  }
}

type Reason = Partial<StatusReason>

/** A Kubernetes Event if the pods begin to break the standard of their namespace. */
export function diffPodSecurity(before: Reason | undefined, after: Reason): EventSpec[] {
  const { reason, message = '' } = after
  if (reason !== reasons.podSecurityViolation || before?.reason === reason) return []
  return [{ type: 'Warning', reason, message }]
}
