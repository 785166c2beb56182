import { labels } from '../../crds/names.ts'
import { isReady } from '../../lib/kube/objects.ts'
import { explainPod } from '../base-model/pod-reason.ts'
import type { Context } from '../context.ts'
import type { JobContext } from './status.ts'

type Seen = Pick<Context, 'baseModels' | 'pods'>

/** How many trainers of a base model (by its canonical name) run, and what keeps the first of the others from it. */
export function measureTrainers({ baseModels, pods }: Seen, baseModel: string): JobContext['trainers'] {
  const resource = baseModels.list().find(({ spec }) => spec.names[0] === baseModel)
  const trainers = pods
    .list()
    .filter(
      ({ metadata }) =>
        metadata.labels?.[labels.baseModel] === resource?.metadata.name &&
        metadata.labels?.[labels.component] === 'trainer',
    )
  const notReady = trainers.find((pod) => !isReady(pod))
  const fault = notReady && explainPod(notReady)
  return {
    wanted: resource?.spec.trainer?.warm?.min ?? 1,
    ready: trainers.filter(isReady).length,
    fault: fault && `${fault.reason}: ${fault.message}`,
  }
}

/** The name of the pod with this uid. */
export function nameHolder({ pods }: Pick<Context, 'pods'>, uid: string | null): string | undefined {
  if (uid === null) return undefined
  return pods.list().find(({ metadata }) => metadata.uid === uid)?.metadata.name
}
