import { isDeepStrictEqual } from 'node:util'
import { ignoreStatus, type KubeClient, type Pod, type PodStatus } from './kube.ts'

/** Writes a pod's status, only when it changes something. */
export class StatusReporter {
  private readonly client: KubeClient
  /** The pod as the last write left it: newer than the watch for a moment. */
  private written: Pod | undefined

  constructor(client: KubeClient) {
    this.client = client
  }

  /** The newer one of the watched pod and the pod that was last written. */
  newest(pod: Pod): Pod {
    return this.written && version(this.written) > version(pod) ? this.written : pod
  }

  async report(pod: Pod, status: PodStatus): Promise<void> {
    if (hasStatus(pod, status)) return
    const { uid, namespace, name } = pod.metadata ?? {}
    // The uid makes it fail for another pod that has the name by now.
    const patch = {
      metadata: { uid },
      status: { ...status, reason: status.reason ?? null, message: status.message ?? null },
    }
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`
    this.written = (await this.client.patch<Pod>(path, patch).catch(ignoreStatus(404, 409))) ?? this.written
  }
}

function hasStatus(pod: Pod, status: PodStatus): boolean {
  const wanted = JSON.parse(JSON.stringify(status)) as Record<string, unknown>
  const known = (pod.status ?? {}) as Record<string, unknown>
  const fields = new Set([...Object.keys(wanted), 'reason', 'message'])
  return [...fields].every((field) => isDeepStrictEqual(wanted[field], known[field]))
}

/** Resource versions of one kind can be compared as numbers (Kubernetes 1.35 and later promise it; etcd always did). */
function version(pod: Pod): bigint {
  return BigInt(pod.metadata?.resourceVersion ?? '0')
}
