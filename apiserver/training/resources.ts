import type { Model, TrainingJob } from '../../crds/generated.ts'
import { apiVersion, labels, plurals } from '../../crds/names.ts'
import type { ModelRow } from '../../db/queries/models.ts'
import type { NewTrainingJob } from '../../db/queries/training-jobs.ts'
import { camelCase, mapKeys } from '../../lib/case.ts'

// Long enough to look at with kubectl, short enough that etcd does not fill up; the job stays in the lists.
const keepFinishedSeconds = 3600

/** A resource to be created; `plural` is its name in addresses (`models`). */
export interface NewResource<Manifest extends object = object> {
  plural: string
  namespace: string
  manifest: Manifest
}

/** The Model resource of a row. */
export function buildModelResource(model: ModelRow, baseModelCrName: string): NewResource<Model> {
  const { id, entity, project, name, namespace, crName } = model
  return {
    plural: plurals.Model,
    namespace,
    manifest: {
      apiVersion,
      kind: 'Model',
      metadata: { name: crName, namespace, labels: { [labels.id]: id } },
      spec: { entity, project, name, baseModelRef: { name: baseModelCrName } },
    },
  }
}

type TrainedOn = Pick<TrainingJob['spec'], 'modelRef' | 'method' | 'inputRef' | 'config'>

/** What a job trains on, as its resource says it. */
export function buildTrainedOn(
  job: Pick<NewTrainingJob, 'method' | 'inputUri' | 'inputDigest' | 'config'>,
  modelCrName: string,
): TrainedOn {
  return {
    modelRef: { name: modelCrName },
    method: job.method,
    inputRef: { uri: job.inputUri, digest: job.inputDigest },
    config: mapKeys(job.config, camelCase),
  }
}

/** The TrainingJob resource of a row. */
export function buildTrainingJobResource(job: NewTrainingJob, modelCrName: string): NewResource<TrainingJob> {
  const { id, namespace, crName } = job
  return {
    plural: plurals.TrainingJob,
    namespace,
    manifest: {
      apiVersion,
      kind: 'TrainingJob',
      metadata: { name: crName, namespace, labels: { [labels.id]: id } },
      spec: { ...buildTrainedOn(job, modelCrName), ttlSecondsAfterFinished: keepFinishedSeconds },
    },
  }
}
