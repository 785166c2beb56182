import { sumGpus } from '../../crds/gpu-resource.ts'
import { isReady, type Pod } from '../../lib/kube/objects.ts'

/** What a pod does, as its metrics name it. `unknown`: the engine did not answer. */
export type PodState = 'busy' | 'idle' | 'starting' | 'unknown'

/** The GPUs that a pod holds, by its limits. Kubernetes demands equal requests. */
export function countGpus({ spec }: Pod): number {
  const containers = spec?.containers ?? []
  return containers.reduce((sum, { resources }) => sum + sumGpus({ ...resources?.requests, ...resources?.limits }), 0)
}

/** Whether a pod occupies resources of a node. */
export function isOnNode({ spec, status }: Pod): boolean {
  return spec?.nodeName !== undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}

/** The state of a pod. @param isBusy undefined if that is not known */
export function stateOf(pod: Pod, isBusy: boolean | undefined): PodState {
  // A pod that ends may still answer its last requests.
  if (isBusy === true) return 'busy'
  if (!isReady(pod)) return 'starting'
  return isBusy === undefined ? 'unknown' : 'idle'
}
