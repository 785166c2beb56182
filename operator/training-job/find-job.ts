import type { TrainingJob } from '../../crds/generated.ts'
import { labels } from '../../crds/names.ts'
import { customPath } from '../../crds/paths.ts'
import { specDigest } from '../../crds/spec-digest.ts'
import { findEqualJob, findNamedJob, type OperatorJob } from '../../db/jobs/resources.ts'
import type { Pool } from '../../db/pool.ts'
import { readObject } from '../../lib/kube/apply.ts'
import type { KubeClient } from '../../lib/kube/client.ts'

interface Deps {
  client: KubeClient
  pool: Pool
  namespace: string
}

/** The job that the resource names by id, or else one with the same specification. */
export async function findJob(
  deps: Deps,
  resource: TrainingJob,
  modelId: string | undefined,
): Promise<OperatorJob | undefined> {
  const reference = { namespace: deps.namespace, crName: resource.metadata.name ?? '' }
  const ids = idsOf(resource)
  const named = ids.length > 0 ? await findNamedJob(deps.pool, { ...reference, ids }) : undefined
  if (named) return named
  const { spec } = await readWhole(deps, resource)
  return findEqualJob(deps.pool, { ...reference, specDigest: specDigest(spec), modelId })
}

/** Our copy lacks long lists. @throws if the resource is gone */
export async function readWhole({ client, namespace }: Deps, { metadata }: TrainingJob): Promise<TrainingJob> {
  const whole = await readObject<TrainingJob>(client, customPath('TrainingJob', namespace, metadata.name))
  if (whole?.metadata.uid !== metadata.uid || !whole) throw new Error('the resource of a job is gone')
  return whole
}

/** A job that fails at once may be finished before our copy of its resource has the status that we wrote. */
export async function readFresh(
  { client, namespace }: Pick<Deps, 'client' | 'namespace'>,
  resource: TrainingJob,
): Promise<TrainingJob> {
  const path = customPath('TrainingJob', namespace, resource.metadata.name)
  return (await readObject<TrainingJob>(client, path)) ?? resource
}

/** The id in its label, which the apiserver sets, and the id in its status. */
export function idsOf({ metadata, status }: TrainingJob): string[] {
  return [metadata.labels?.[labels.id], status?.id].filter((id) => id !== undefined)
}
