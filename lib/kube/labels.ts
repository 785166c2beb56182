import type { KubeObject } from './apply.ts'
import type { KubeClient } from './client.ts'
import { ignoreErrors, isConflict, isGone } from './error.ts'

/**
 * Adds labels that an object lacks. We own nothing else of it (server-side apply with an owner of its own). A label that
 * somebody else has set stays, so that we never fight over it.
 */
export async function addLabels(
  client: KubeClient,
  path: string,
  { object, labels }: { object: KubeObject; labels: Record<string, string> },
): Promise<void> {
  const present = object.metadata.labels ?? {}
  if (Object.keys(labels).every((label) => label in present)) return
  const { apiVersion, kind } = object
  const { name, namespace, uid } = object.metadata
  const isFree = ([label, value]: [string, string]) => !(label in present) || present[label] === value
  const wanted = Object.fromEntries(Object.entries(labels).filter(isFree))
  await client
    .request({
      method: 'PATCH',
      path,
      query: { fieldManager: `${client.userAgent}-labels` },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion, kind, metadata: { name, namespace, uid, labels: wanted } },
    })
    .catch(ignoreErrors(isConflict, isGone))
}
