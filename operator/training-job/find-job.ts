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

/** The job that the resource names by id. */
export async function findOwnJob({ pool, namespace }: Deps, resource: TrainingJob): Promise<OperatorJob | undefined> {
  const ids = idsOf(resource)
  if (ids.length === 0) return undefined
  return findNamedJob(pool, { namespace, crName: resource.metadata.name ?? '', ids })
}

/** A job of the resource's name with the same specification. */
export async function findSameJob(
  deps: Deps,
  resource: TrainingJob,
  modelId: string | undefined,
): Promise<OperatorJob | undefined> {
  const { spec, metadata } = await readWhole(deps, resource)
  const reference = { namespace: deps.namespace, crName: metadata.name ?? '' }
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
