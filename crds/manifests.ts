import type { Model, TrainingJob } from './generated.ts'
import { configFromSpec, configToSpec } from './job-config.ts'
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

/** What the spec of a job's resource and its row both say; `config` in wire names. db/jobs/table.ts has the columns. */
export interface JobSpecFacts {
  method: TrainingJob['spec']['method']
  inputUri: string
  /** null: not known before the input is fetched */
  inputDigest: string | null
  config: Record<string, unknown>
}

/** A job as its row has it. */
export interface TrainingJobFacts extends JobSpecFacts {
  id: string
  namespace: string
  crName: string
  modelCrName: string
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

/** The spec of the TrainingJob resource of a job that came over REST, as far as its row says it. */
export function buildJobSpec(facts: JobSpecFacts & Pick<TrainingJobFacts, 'modelCrName'>) {
  const { method, inputUri, inputDigest, config, modelCrName } = facts
  return {
    modelRef: { name: modelCrName },
    method,
    inputRef: { uri: inputUri, ...(inputDigest !== null && { digest: inputDigest }) },
    config: configToSpec(config),
  } satisfies TrainingJob['spec']
}

/** The other way round: what the row of a job says that was made with kubectl. */
export function extractJobFacts({ method, inputRef, config = {} }: TrainingJob['spec']): JobSpecFacts {
  return {
    method,
    inputUri: inputRef.uri,
    inputDigest: inputRef.digest ?? null,
    config: configFromSpec(config),
  }
}

/** The TrainingJob resource of a job that came over REST. */
export function buildTrainingJob(job: TrainingJobFacts): TrainingJob {
  const { id, namespace, crName } = job
  return {
    apiVersion,
    kind: 'TrainingJob',
    metadata: { name: crName, namespace, labels: { [labels.id]: id } },
    spec: { ...buildJobSpec(job), ttlSecondsAfterFinished: keepFinishedSeconds },
  }
}
