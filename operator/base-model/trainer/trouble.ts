import { isReady, type Pod } from '../../../lib/kube/objects.ts'
import { findFailures } from './failed-trainers.ts'
import { explainPod, isStarting } from '../pod/reason.ts'

/** The reason why no trainer can begin; null if one runs, or if they only need time. */
export function findTrainerTrouble(pods: Pod[]): string | null {
  if (pods.some(isReady)) return null
  const stuck = pods.map(explainPod).find((why) => !isStarting(why))
  return stuck?.reason ?? findFailures(pods)?.reason ?? null
}
