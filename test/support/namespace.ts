import { Readable } from 'node:stream'
import { forEachConcurrent } from '../../artifacts/store/for-each-concurrent.ts'
import { plurals, type Kind } from '../../crds/names.ts'
import { customPath } from '../../crds/paths.ts'
import { loadKubeAccess } from '../../lib/kube/access.ts'
import { mergePatch, type KubeObject } from '../../lib/kube/apply.ts'
import { KubeClient } from '../../lib/kube/client.ts'
import { ignoreErrors, isConflict, isGone } from '../../lib/kube/error.ts'
import type { StackHandle } from './global-setup.ts'

type Cluster = Pick<StackHandle, 'kubeconfig'>

const path = '/api/v1/namespaces'
const openClient = ({ kubeconfig }: Cluster) =>
  new KubeClient(loadKubeAccess({ KUBECONFIG: kubeconfig }), { userAgent: 'test' })

/** Creates a namespace without a Trainyard of its own, unless it exists. */
export async function createNamespace(cluster: Cluster, name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await openClient(cluster).request({ method: 'POST', path, body }).catch(ignoreErrors(isConflict))
}

/**
 * Deletes a namespace and does not wait. Its operator must have ended: no one else removes the finalizers of our
 * resources, and Kubernetes tries in vain to empty a namespace again and again, which takes a quarter of a processor.
 */
export async function removeNamespace(cluster: Cluster, name: string): Promise<void> {
  const client = openClient(cluster)
  for (const kind of Object.keys(plurals) as Kind[]) {
    const { items } = await client.request<{ items: KubeObject[] }>({ path: customPath(kind, name) })
    const patch = { metadata: { finalizers: null } }
    const release = async ({ metadata }: KubeObject) => {
      await mergePatch(client, customPath(kind, name, metadata.name), patch).catch(ignoreErrors(isGone))
    }
    // A benchmark leaves thousands.
    await forEachConcurrent(Readable.from(items), 8, release)
  }
  await client.request({ method: 'DELETE', path: `${path}/${name}` }).catch(ignoreErrors(isGone, isConflict))
}
