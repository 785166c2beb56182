import type { TrainingJob } from '../../crds/generated.ts'
import { keyOf } from '../../lib/kube/objects.ts'

/** The annotation in which kubectl keeps what it has applied. */
const appliedByKubectl = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * A TrainingJob without its long lists, of which thousands would not fit into memory. What trains on them reads the whole
 * resource (`readWhole`).
 */
export function compactJob(job: TrainingJob): TrainingJob {
  const { config, ...spec } = job.spec
  const { [appliedByKubectl]: _, ...annotations } = job.metadata.annotations ?? {}
  const { learningRates: __, ...short } = config ?? {}
  return { ...job, metadata: { ...job.metadata, annotations }, spec: { ...spec, ...(config && { config: short }) } }
}

/**
 * How TrainingJobs are listed. A job may have 20,000 learning rates, and be applied with as many in an annotation: half a
 * megabyte.
 */
export const jobListing = { keyOf, compact: compactJob, pageSize: 50 }
