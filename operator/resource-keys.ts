import type { TrainingJob } from '../crds/generated.ts'
import { keyOf } from '../lib/kube/objects.ts'

/** The resource that a row names. */
export interface ResourceRow {
  namespace: string
  crName: string
}

/** The key of the resource of a row. */
export function keyOfRow({ namespace, crName }: ResourceRow): string {
  return keyOf({ metadata: { namespace, name: crName } })
}

/** The key of a job's model, which is in the same namespace. */
export function modelKeyOf({ metadata, spec }: TrainingJob): string {
  return keyOf({ metadata: { ...metadata, name: spec.modelRef.name } })
}
