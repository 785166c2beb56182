import { labels } from '../../crds/names.ts'
import type { DeletedModelRow, JobResourceRow } from '../../db/deletion/model-removal.ts'
import type { TrainingJob } from '../../crds/generated.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { deleteObject, readObject, type KubeObject } from '../../lib/kube/apply.ts'
import { customPath } from '../../crds/paths.ts'
import { keyOfRow } from '../resource-keys.ts'
import type { Tenants } from '../tenants.ts'

/** What deleting resources needs. */
export interface ResourceDeps {
  client: KubeClient
  tenants: Tenants
  trainingJobs: ObjectCache<TrainingJob>
}

interface Resource extends KubeObject {
  metadata: KubeObject['metadata'] & { labels?: Record<string, string>; creationTimestamp?: string }
  status?: { id?: string }
}

/** Deletes the resource of a deleted model. A newer resource of the same name stays. */
export async function deleteModelResource({ client, tenants }: ResourceDeps, model: DeletedModelRow): Promise<void> {
  if (!tenants.namespaces.includes(model.namespace)) return
  const path = customPath('Model', model.namespace, model.crName)
  const resource = await readObject<Resource>(client, path)
  if (resource && belongsTo(resource, model)) await deleteObject(client, path, resource.metadata.uid ?? '')
}

function belongsTo(resource: Resource, { id, deletedAt }: DeletedModelRow): boolean {
  const named = idOf(resource)
  if (named !== undefined) return named === id
  // A resource that is not accepted has no id yet. It belongs to the model if it is older than the deletion.
  // Kubernetes' times have whole seconds.
  return Date.parse(resource.metadata.creationTimestamp ?? '') + 1000 <= deletedAt.getTime()
}

/**
 * Deletes the resources of a deleted model's jobs. A resource that is created later is deleted by its reconciliation.
 */
export async function deleteJobResources(
  { client, trainingJobs }: ResourceDeps,
  jobs: JobResourceRow[],
): Promise<void> {
  for (const { id, namespace, crName } of jobs) {
    const resource = trainingJobs.get(keyOfRow({ namespace, crName }))
    if (!resource || idOf(resource) !== id) continue
    await deleteObject(client, customPath('TrainingJob', namespace, crName), resource.metadata.uid ?? '')
  }
}

/** The id of a resource's row. */
function idOf({ metadata, status }: Resource): string | undefined {
  return status?.id ?? metadata.labels?.[labels.id]
}
