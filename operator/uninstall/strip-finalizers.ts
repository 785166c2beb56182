import { finalizer, type Kind } from '../../crds/names.ts'
import { customPath } from '../../crds/paths.ts'
import type { KubeObject } from '../../lib/kube/apply.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import { ignoreErrors, isConflict } from '../../lib/kube/error.ts'
import { hasFinalizer, removeFinalizer } from '../../lib/kube/finalizers.ts'

const pageSize = '500'

interface List {
  items: KubeObject[]
  metadata: { continue?: string }
}

/** Removes our finalizer from all resources of a kind. Nobody may add it meanwhile. Returns the number of resources. */
export async function stripFinalizers(client: KubeClient, namespace: string, kind: Kind): Promise<number> {
  let stripped = 0
  for (;;) {
    const held = await listHeld(client, namespace, kind)
    if (held.length === 0) return stripped
    for (const object of held) {
      const path = customPath(kind, namespace, object.metadata.name)
      // One that somebody has changed is listed again.
      await removeFinalizer(client, path, { object, finalizer }).catch(ignoreErrors(isConflict))
    }
    stripped += held.length
  }
}

async function listHeld(client: KubeClient, namespace: string, kind: Kind): Promise<KubeObject[]> {
  const held: KubeObject[] = []
  const query: Record<string, string> = { limit: pageSize }
  for (;;) {
    const { items, metadata } = await client.request<List>({ path: customPath(kind, namespace), query })
    held.push(...items.filter((item) => hasFinalizer(item, finalizer)))
    if (!metadata.continue) return held
    query['continue'] = metadata.continue
  }
}
