import { apiVersion, finalizer, type Kind } from '../crds/names.ts'
import { customPath } from '../crds/paths.ts'
import type { KubeObject } from '../lib/kube/apply.ts'
import type { KubeClient } from '../lib/kube/client.ts'
import { KubeError } from '../lib/kube/error.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from '../lib/kube/finalizers.ts'
import type { Logger } from '../lib/log.ts'

interface Deps {
  client: KubeClient
  namespace: string
  log: Logger
}

/** A resource that is being deleted, and what its deletion means. */
export interface Deletion {
  kind: Kind
  resource: KubeObject & { spec: object }
  /** Records the deletion in the database. Undefined if it changes nothing there. */
  record: (() => Promise<void>) | undefined
  /** Whether nothing uses it any more, after its deletion was recorded. By default nothing does. */
  isFree?: () => Promise<boolean>
}

// After this time a resource is released, even if its deletion could not be recorded. It is then made again.
const deadlineMs = 60_000
// The words of kube-apiserver about a namespace, or a kind, that is being removed with all that is in it.
const terminating = /because it is being terminated|custom resource definition is terminating/

/** Makes sure that a resource waits for us when it is deleted, before something depends on it. */
export async function ensureFinalizer<T extends KubeObject>(
  { client, namespace }: Pick<Deps, 'client' | 'namespace'>,
  kind: Kind,
  resource: T,
): Promise<T> {
  if (hasFinalizer(resource, finalizer)) return resource
  return addFinalizer(client, customPath(kind, namespace, resource.metadata.name), { object: resource, finalizer })
}

/**
 * Removes the finalizer of a deleted resource, after its deletion was recorded. If its whole namespace or kind is being removed, nobody
 * has deleted the resource itself, and nothing is recorded. Returns false if something still uses it.
 */
export async function finalize(deps: Deps, deletion: Deletion): Promise<boolean> {
  const { resource, kind } = deletion
  if (!hasFinalizer(resource, finalizer)) return true
  const { name } = resource.metadata
  if (deletion.record) await recordUnlessTerminating(deps, { ...deletion, record: deletion.record })
  if (!(await isFree(deletion))) return false
  await removeFinalizer(deps.client, customPath(kind, deps.namespace, name), { object: resource, finalizer })
  return true
}

/** After the deadline, a resource waits for nobody who cannot be asked. */
async function isFree({ resource, ...deletion }: Deletion): Promise<boolean> {
  if (!deletion.isFree) return true
  try {
    return await deletion.isFree()
  } catch (error) {
    if (!isLate(resource)) throw error
    return true
  }
}

function isLate({ metadata: { deletionTimestamp = '' } }: KubeObject): boolean {
  return Date.now() - Date.parse(deletionTimestamp) >= deadlineMs
}

async function recordUnlessTerminating(
  deps: Deps,
  { kind, resource, record }: Deletion & { record: () => Promise<void> },
): Promise<void> {
  const { name } = resource.metadata
  try {
    if (await isTerminating(deps, kind, resource.spec)) {
      deps.log.warn({ kind, name }, 'a resource goes with its namespace or its kind; that deletes nothing else')
    } else await record()
  } catch (error) {
    if (!isLate(resource)) throw error
    deps.log.error({ kind, name, error }, 'the deletion of a resource could not be recorded; it will be made again')
  }
}

/** Asks kube-apiserver whether it would take another resource of the kind. */
async function isTerminating({ client, namespace }: Deps, kind: Kind, spec: object): Promise<boolean> {
  const body = { apiVersion, kind, metadata: { generateName: 'termination-check-', namespace }, spec }
  try {
    await client.request({ method: 'POST', path: customPath(kind, namespace), query: { dryRun: 'All' }, body })
    return false
  } catch (error) {
    if (!(error instanceof KubeError) || error.status >= 500) throw error
    return terminating.test(error.message)
  }
}
