import { isDeepStrictEqual } from 'node:util'
import type { KubeClient } from './client.ts'
import { ignoreErrors, isConflict, isGone } from './error.ts'

export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: {
    name?: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    generation?: number
    deletionTimestamp?: string
    labels?: Record<string, string>
    managedFields?: unknown
    finalizers?: string[]
  }
}

/**
 * Creates the object, or changes it to match (server-side apply). Fields that this client set before and now leaves out
 * are removed. Fields that others set stay.
 */
export function applyObject<T extends KubeObject>(client: KubeClient, path: string, object: T): Promise<T> {
  return client.request<T>({
    method: 'PATCH',
    path,
    query: { fieldManager: client.userAgent, force: 'true' },
    contentType: 'application/apply-patch+yaml',
    body: object,
  })
}

/**
 * Creates the object under the `path` of its kind. Returns false if its name exists. If it is strict, the server rejects
 * unknown fields instead of dropping them.
 */
export async function createObject(
  client: KubeClient,
  path: string,
  object: KubeObject,
  { isStrict = false } = {},
): Promise<boolean> {
  const query = { fieldManager: client.userAgent, ...(isStrict && { fieldValidation: 'Strict' }) }
  const created = await client.request({ method: 'POST', path, query, body: object }).catch(ignoreErrors(isConflict))
  return created !== undefined
}

/** Changes the given fields of an object (JSON merge patch). Lists are replaced completely, null removes a field. */
export function mergePatch<T>(client: KubeClient, path: string, patch: object): Promise<T> {
  return client.request<T>({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body: patch })
}

/** Reads one object; undefined if there is none. */
export function readObject<T>(client: KubeClient, path: string): Promise<T | undefined> {
  return client.request<T>({ path }).catch(ignoreErrors(isGone))
}

/**
 * Deletes the object with this uid. An object that is already gone is a success. Another object of the same name stays.
 */
export async function deleteObject(client: KubeClient, path: string, uid: string): Promise<void> {
  await sendDelete(client, path, { preconditions: { uid } })
}

/** Deletes the object as `deleteObject` does. It stays, marked as deleted, until all objects that it owns are gone. */
export async function deleteWithChildren(client: KubeClient, path: string, uid: string): Promise<void> {
  await sendDelete(client, path, { preconditions: { uid }, propagationPolicy: 'Foreground' })
}

/** Deletes the object as `deleteObject` does, without a grace period. */
export async function deleteObjectNow(client: KubeClient, path: string, uid: string): Promise<void> {
  await sendDelete(client, path, { preconditions: { uid }, gracePeriodSeconds: 0 })
}

async function sendDelete(client: KubeClient, path: string, options: object): Promise<void> {
  await client.request({ method: 'DELETE', path, body: options }).catch(ignoreErrors(isGone, isConflict))
}

/** Whether a status differs from the one that a resource has. Absent and undefined fields are equal. */
export function isStatusChanged(seen: unknown, status: object): boolean {
  return !isDeepStrictEqual(seen, JSON.parse(JSON.stringify(status)))
}

/**
 * Writes the status of a resource if it differs from that of `seen`. Returns the written resource, or undefined if nothing
 * was written. The uid causes a conflict if the resource was recreated meanwhile, so that it does not get a wrong status.
 */
export async function patchStatus<S extends object>(
  client: KubeClient,
  path: string,
  seen: KubeObject & { status?: S },
  status: S,
): Promise<KubeObject | undefined> {
  if (!isStatusChanged(seen.status, status)) return undefined
  const { apiVersion, kind } = seen
  const { name, namespace, uid } = seen.metadata
  return applyObject(client, `${path}/status`, {
    apiVersion,
    kind,
    metadata: { name, namespace, uid },
    status,
  } as KubeObject)
}
