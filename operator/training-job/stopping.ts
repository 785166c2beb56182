import type { StoppingAttempt } from '../../db/jobs/stopping-attempts.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { hasEndedSince, isNodeSilent } from './lost-trainer.ts'

// A trainer learns of an end with its next heartbeat, and drops the job within five seconds after the pass under way. One
// that has said nothing for so long hangs, and will not say it.
const maxStoppingMs = 600_000

/** Whether the trainer of an ended attempt holds nothing of the job any more. A lost one does not. */
export function hasDropped({ claimedAt, since }: StoppingAttempt, pod: Pod | undefined, now: Date): boolean {
  if (!pod || now.getTime() - Date.parse(since) > maxStoppingMs) return true
  if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') return true
  return isNodeSilent(pod) || hasEndedSince(pod, Date.parse(claimedAt))
}
