import type { Model, TrainingJob } from './generated.ts'
import { configToSpec } from './job-config.ts'
import { apiVersion, labels } from './names.ts'

// Long enough to look at with kubectl, short enough that etcd does not fill up; the job stays in the REST lists.
const keepFinishedSeconds = 3600

/** A model as its row has it; `crName` and `baseModelCrName` are names of resources. */
export interface ModelFacts {
  id: string
  entity: string
  project: string
  name: string
  namespace: string
  crName: string
  baseModelCrName: string
}

/** What a job trains on, as its row has it; `config` in wire names. */
export interface TrainedOnFacts {
  method: TrainingJob['spec']['method']
  inputUri: string
  /** null: not known before the input is fetched */
  inputDigest: string | null
  config: Record<string, unknown>
  modelCrName: string
}

/** A job as its row has it. */
export interface TrainingJobFacts extends TrainedOnFacts {
  id: string
  namespace: string
  crName: string
}

/** The Model resource of a model that came over REST. */
export function buildModel({ id, entity, project, name, namespace, crName, baseModelCrName }: ModelFacts): Model {
  return {
    apiVersion,
    kind: 'Model',
    metadata: { name: crName, namespace, labels: { [labels.id]: id } },
    spec: { entity, project, name, baseModelRef: { name: baseModelCrName } },
  }
}

/** The part of a TrainingJob's spec that says what it trains on. */
export function buildTrainedOn({ method, inputUri, inputDigest, config, modelCrName }: TrainedOnFacts) {
  return {
    modelRef: { name: modelCrName },
    method,
    inputRef: { uri: inputUri, ...(inputDigest !== null && { digest: inputDigest }) },
    config: configToSpec(config),
  } satisfies Partial<TrainingJob['spec']>
}

/** The TrainingJob resource of a job that came over REST. */
export function buildTrainingJob(job: TrainingJobFacts): TrainingJob {
  const { id, namespace, crName } = job
  return {
    apiVersion,
    kind: 'TrainingJob',
    metadata: { name: crName, namespace, labels: { [labels.id]: id } },
    spec: { ...buildTrainedOn(job), ttlSecondsAfterFinished: keepFinishedSeconds },
  }
}
