import { isDeepStrictEqual } from 'node:util'
import type { KubeClient } from './client.ts'
import { isConflict, isGone } from './kube-error.ts'

/** Ours among the field managers of an object: what we set and then leave out is removed, what others set stays. */
const fieldOwner = 'trainyard-operator'

export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: { name?: string; namespace?: string; uid?: string; resourceVersion?: string }
}

/** Makes the object as given, or changes it to that (server-side apply). */
export function applyObject<T extends KubeObject>(client: KubeClient, path: string, object: T): Promise<T> {
  return client.request<T>({
    method: 'PATCH',
    path,
    query: { fieldManager: fieldOwner, force: 'true' },
    contentType: 'application/apply-patch+yaml',
    body: object,
  })
}

/** Creates the object under `path` (of its kind). False when one of that name is there already. */
export async function createObject(client: KubeClient, path: string, object: KubeObject): Promise<boolean> {
  try {
    await client.request({ method: 'POST', path, query: { fieldManager: fieldOwner }, body: object })
    return true
  } catch (error) {
    if (isConflict(error)) return false
    throw error
  }
}

/** Reads one object; undefined when there is none. */
export async function readObject<T>(client: KubeClient, path: string): Promise<T | undefined> {
  try {
    return await client.request<T>({ path })
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Deletes the object with this uid; that it is gone already is as good, and another one of its name stays. */
export async function deleteObject(client: KubeClient, path: string, uid: string): Promise<void> {
  try {
    await client.request({ method: 'DELETE', path, body: { preconditions: { uid } } })
  } catch (error) {
    if (!isGone(error) && !isConflict(error)) throw error
  }
}

/**
 * Writes the status of a resource when it differs from what `seen` has. True when it was written.
 * The uid makes it a conflict, not a wrong status, when the resource was deleted and made again meanwhile.
 */
export async function patchStatus<S>(
  client: KubeClient,
  path: string,
  seen: KubeObject & { status?: S },
  status: S,
): Promise<boolean> {
  const wanted = JSON.parse(JSON.stringify(status)) as S
  if (isDeepStrictEqual(seen.status, wanted)) return false
  const { apiVersion, kind } = seen
  const { name, namespace, uid } = seen.metadata
  await applyObject(client, `${path}/status`, {
    apiVersion,
    kind,
    metadata: { name, namespace, uid },
    status: wanted,
  } as KubeObject)
  return true
}
