import { mergePatch, type KubeObject } from './apply.ts'
import type { KubeClient } from './client.ts'
import { ignoreErrors, isGone } from './error.ts'

/** An object as it was read, and the finalizer to add or to remove. */
interface Change<T> {
  object: T
  finalizer: string
}

/** Whether an object waits for us when it is deleted. */
export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true
}

/** Adds a finalizer. Returns the changed object. @throws {KubeError} 409 if it has changed since it was read */
export function addFinalizer<T extends KubeObject>(
  client: KubeClient,
  path: string,
  { object, finalizer }: Change<T>,
): Promise<T> {
  return writeFinalizers(client, path, { object, finalizers: [...(object.metadata.finalizers ?? []), finalizer] })
}

/** Removes a finalizer. An object that is gone is a success. @throws {KubeError} 409 if it has changed since it was read */
export async function removeFinalizer(
  client: KubeClient,
  path: string,
  { object, finalizer }: Change<KubeObject>,
): Promise<void> {
  const finalizers = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer)
  await writeFinalizers(client, path, { object, finalizers }).catch(ignoreErrors(isGone))
}

/** The version makes sure that no finalizer of somebody else is lost. */
function writeFinalizers<T extends KubeObject>(
  client: KubeClient,
  path: string,
  { object, finalizers }: { object: T; finalizers: string[] },
): Promise<T> {
  const { uid, resourceVersion } = object.metadata
  return mergePatch<T>(client, path, { metadata: { uid, resourceVersion, finalizers } })
}
