import { labels } from '../../crds/names.ts'
import type { DeletedModelRow, JobResourceRow } from '../../db/deletion/model-removal.ts'
import type { Context } from '../context.ts'
import { deleteObject, readObject, type KubeObject } from '../../lib/kube/apply.ts'
import { customPath } from '../../crds/paths.ts'

interface Resource extends KubeObject {
  metadata: KubeObject['metadata'] & { labels?: Record<string, string>; creationTimestamp?: string }
  status?: { id?: string }
}

/** Deletes the resource of a deleted model; one of the same name that somebody made since stays. */
export async function deleteModelResource({ client, namespace }: Context, model: DeletedModelRow): Promise<void> {
  if (model.namespace !== namespace) return
  const path = customPath('Model', namespace, model.crName)
  const resource = await readObject<Resource>(client, path)
  if (resource && isOf(resource, model)) await deleteObject(client, path, resource.metadata.uid ?? '')
}

function isOf(resource: Resource, { id, deletedAt }: DeletedModelRow): boolean {
  const named = nameOf(resource)
  if (named !== undefined) return named === id
  // Not taken in yet: older than the deletion, and so the model's. Kubernetes' times have whole seconds.
  return Date.parse(resource.metadata.creationTimestamp ?? '') + 1000 <= deletedAt.getTime()
}

/** Deletes the resources of a deleted model's jobs. What is made late goes by its own reconciliation. */
export async function deleteJobResources(
  { client, namespace, trainingJobs }: Context,
  jobs: JobResourceRow[],
): Promise<void> {
  for (const job of jobs) {
    const resource = job.namespace === namespace ? trainingJobs.get(job.crName) : undefined
    if (!resource || nameOf(resource) !== job.id) continue
    await deleteObject(client, customPath('TrainingJob', namespace, job.crName), resource.metadata.uid ?? '')
  }
}

/** The id of the row that a resource was made for, or was given. */
function nameOf({ metadata, status }: Resource): string | undefined {
  return status?.id ?? metadata.labels?.[labels.id]
}
