import { apiVersion, conditions } from '../../../crds/names.ts'
import type { TrainingJob } from '../../../crds/generated.ts'
import { customPath } from '../../../crds/paths.ts'
import type { KubeClient } from '../../../lib/kube/client.ts'
import { Reflector } from '../../../lib/kube/reflector.ts'
import { createLogger } from '../../../lib/log.ts'

/** The TrainingJobs whose status says that they have ended. */
export interface EndedJobs {
  count: number
  changedAt: number
  /** One that did not succeed. */
  failed: string | undefined
}

/** Counts them from now on, until `stop`. */
export function followEnds(client: KubeClient, namespace: string): { ended: EndedJobs; stop: () => Promise<void> } {
  const [names, ended]: [Set<string>, EndedJobs] = [new Set(), { count: 0, changedAt: 0, failed: undefined }]
  const observe = ({ metadata, status }: TrainingJob) => {
    if (status?.conditions?.find(({ type }) => type === conditions.finished)?.status !== 'True') return
    ended.count = names.add(metadata.name!).size
    ended.changedAt = performance.now()
    if (status.phase !== 'Succeeded') ended.failed = `${status.phase} ${status.message}`
  }
  const path = customPath('TrainingJob', namespace)
  const log = createLogger('bench', 'silent')
  const reflector = new Reflector<TrainingJob>({
    client,
    kind: 'TrainingJob',
    apiVersion,
    path,
    onChange: observe,
    log,
  })
  reflector.start()
  return { ended, stop: () => reflector.stop() }
}
