import type { EngineContainer } from '../../db/engines/loaded-adapters.ts'
import type { Pod } from '../../lib/kube/objects.ts'

/** The container that serves in an engine pod. A container that starts again has another start. */
export function findEngineContainer(pod: Pod): EngineContainer {
  const engine = pod.status?.containerStatuses?.find(({ name }) => name === 'engine')
  return {
    podName: pod.metadata.name ?? '',
    podUid: pod.metadata.uid ?? '',
    containerStart: engine?.state?.running?.startedAt ?? '',
  }
}
