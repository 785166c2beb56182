import { isDeepStrictEqual } from 'node:util'
import { conditions } from '../../crds/names.ts'
import type { Pace } from '../status-pacer.ts'
import type { ModelStatus } from './status.ts'

const atOnce: Pace = { settleMs: 0, everyMs: 0 }
// A new step changes the status twice: when it is trained, and when engines have it. Jobs may end several times a second.
const paceOfSteps: Pace = { settleMs: 2_000, everyMs: 5_000 }

/** How soon a model's status is written: at once if it answers a change of the spec, and otherwise with other changes. */
export function planPace(before: ModelStatus | undefined, after: ModelStatus): Pace {
  if (before === undefined || before.observedGeneration !== after.observedGeneration) return atOnce
  return isDeepStrictEqual(pickAccepted(before), pickAccepted(after)) ? paceOfSteps : atOnce
}

function pickAccepted({ conditions: all = [], aliases }: ModelStatus) {
  return { aliases, accepted: all.find(({ type }) => type === conditions.accepted)?.status }
}
