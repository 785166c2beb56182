import { isDeepStrictEqual } from 'node:util'
import { mergePatch } from '../../../lib/kube/apply.ts'
import type { KubeClient } from '../../../lib/kube/client.ts'
import { ignoreErrors, isConflict, isGone } from '../../../lib/kube/error.ts'
import { podPath } from '../../../lib/kube/paths.ts'
import type { Pod, PodStatus } from '../objects.ts'

/** Writes a pod's status if it changed. */
export class StatusReporter {
  readonly #client: KubeClient
  /** The pod after the last write. It may be newer than the watched pod. */
  #written: Pod | undefined

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** Returns the newer of the watched pod and the last written pod. */
  newest(pod: Pod): Pod {
    return this.#written && version(this.#written) > version(pod) ? this.#written : pod
  }

  async report(pod: Pod, status: PodStatus): Promise<void> {
    if (hasStatus(pod, status)) return
    const { uid, namespace = '', name = '' } = pod.metadata
    // The uid makes the patch fail if another pod has the name now.
    const patch = {
      metadata: { uid },
      status: { ...status, reason: status.reason ?? null, message: status.message ?? null },
    }
    const path = `${podPath(namespace, name)}/status`
    const written = await mergePatch<Pod>(this.#client, path, patch).catch(ignoreErrors(isGone, isConflict))
    this.#written = written ?? this.#written
  }
}

function hasStatus(pod: Pod, status: PodStatus): boolean {
  const wanted = JSON.parse(JSON.stringify(status)) as Record<string, unknown>
  const known = (pod.status ?? {}) as Record<string, unknown>
  const fields = new Set([...Object.keys(wanted), 'reason', 'message'])
  return [...fields].every((field) => isDeepStrictEqual(wanted[field], known[field]))
}

/** Resource versions of one kind can be compared as numbers. Kubernetes promises it since 1.35, and etcd always did. */
function version(pod: Pod): bigint {
  return BigInt(pod.metadata?.resourceVersion ?? '0')
}
