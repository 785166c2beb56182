import { isDeepStrictEqual } from 'node:util'
import { conditions } from '../../crds/names.ts'
import type { StatusDelay } from '../status-throttle.ts'
import type { ModelStatus } from './status.ts'

const atOnce: StatusDelay = { settleMs: 0, intervalMs: 0 }
// A new step changes the status twice: when it is trained, and when engines have it. Jobs may end several times a second.
const stepDelay: StatusDelay = { settleMs: 2_000, intervalMs: 5_000 }

/** How soon a model's status is written: at once if it answers a change of the spec, and otherwise with other changes. */
export function planStatusDelay(before: ModelStatus | undefined, after: ModelStatus): StatusDelay {
  if (before === undefined || before.observedGeneration !== after.observedGeneration) return atOnce
  return isDeepStrictEqual(pickAccepted(before), pickAccepted(after)) ? stepDelay : atOnce
}

function pickAccepted({ conditions: all = [], aliases }: ModelStatus) {
  return { aliases, accepted: all.find(({ type }) => type === conditions.accepted)?.status }
}
