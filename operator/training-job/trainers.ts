import type { BaseModel } from '../../crds/generated.ts'
import { isReady, uidOf, type Pod } from '../../lib/kube/objects.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { findTrainerComponent } from '../base-model/colocation.ts'
import { explainWaitingPod } from '../base-model/pod/downloads.ts'
import { listBaseModelsNamed, listPods } from '../component-pods.ts'
import type { JobContext } from './status.ts'

interface Deps {
  baseModels: ObjectCache<BaseModel>
  pods: ObjectCache<Pod>
}

/**
 * Counts the running trainers of a base model (by its canonical name), and explains why the first of the others does
 * not run.
 */
export function measureTrainers({ baseModels, pods }: Deps, baseModel: string): JobContext['trainers'] {
  const [resource] = listBaseModelsNamed(baseModels, baseModel)
  const trainers = resource ? listPods(pods, resource.metadata.name ?? '', findTrainerComponent(resource)) : []
  const pod = trainers.find((trainer) => !isReady(trainer))
  const download = resource?.status?.downloads?.find((each) => each.pod === pod?.metadata.name)
  return {
    wanted: resource?.status?.trainers?.wanted ?? resource?.spec.trainer?.warm?.min ?? 1,
    ready: trainers.filter(isReady).length,
    notReady: pod && explainWaitingPod(pod, new Map(download && [[uidOf(pod), download]])),
  }
}
