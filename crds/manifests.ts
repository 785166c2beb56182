import type { Model, TrainingJob } from './generated.ts'
import { configFromSpec, configToSpec } from './job-config.ts'
import { buildModelLabels, type LabelledModel } from './model-labels.ts'
import { apiVersion, finalizer, labels } from './names.ts'

// Long enough for a look with kubectl, short enough that etcd does not fill up. The job stays in the REST lists.
const keepFinishedSeconds = 3600

/** A model's row. `crName` and `baseModelCrName` are names of resources. */
export interface ModelFacts {
  id: string
  entity: string
  project: string
  name: string
  namespace: string
  crName: string
  baseModelCrName: string
  /** What a resource says that is made again. A new one has the defaults. */
  deletionPolicy?: Model['spec']['deletionPolicy']
  keepLoaded?: boolean
  resourceAliases?: Record<string, number>
}

/** Whether a warm trainer of the base model trains a job, or pods of its own. */
export type JobMode = NonNullable<TrainingJob['spec']['mode']>

/** What a job's row and the spec of its resource share. `config` has wire names. db/jobs/table.ts has the columns. */
export interface JobSpecFacts {
  method: TrainingJob['spec']['method']
  inputUri: string
  /** Null until the input is fetched, if it was not given. */
  inputDigest: string | null
  config: Record<string, unknown>
  startDeadlineSeconds: number | null
  activeDeadlineSeconds: number | null
  mode: JobMode
  /** Whether its pods are to go until it is resumed. Dedicated only. */
  suspend: boolean
  /** Kueue's LocalQueue. Dedicated only. */
  queueName: string | null
  /** The PriorityClass of its pods. Dedicated only. */
  priorityClassName: string | null
  /** Its priority among the jobs of its entity. */
  priority: number
}

/** A job's row. */
export interface TrainingJobFacts extends JobSpecFacts {
  id: string
  namespace: string
  crName: string
  modelCrName: string
  /** What its labels say. */
  model: LabelledModel
  /** Null for a job that was made with kubectl. */
  keyId: string | null
  /** The job that it repeats. */
  retryOf: string | null
  /** Retries, unless they are the default. */
  retryLimit?: number
}

/** Builds the Model resource of a model from REST, or of one whose resource is made again. */
export function buildModel(model: ModelFacts): Model {
  const { id, entity, project, name, namespace, crName, baseModelCrName } = model
  const { deletionPolicy = 'Retain', keepLoaded = false, resourceAliases: aliases = {} } = model
  return {
    apiVersion,
    kind: 'Model',
    metadata: {
      name: crName,
      namespace,
      labels: { [labels.id]: id, ...buildModelLabels(model) },
      finalizers: [finalizer],
    },
    spec: {
      entity,
      project,
      name,
      baseModelRef: { name: baseModelCrName },
      ...(deletionPolicy !== 'Retain' && { deletionPolicy }),
      ...(keepLoaded && { keepLoaded }),
      ...(Object.keys(aliases).length > 0 && { aliases }),
    },
  }
}

/** Builds the spec of a TrainingJob resource from the row of a REST job. */
export function buildJobSpec(facts: JobSpecFacts & Pick<TrainingJobFacts, 'modelCrName'>) {
  const { method, inputUri, inputDigest, config, modelCrName } = facts
  const { startDeadlineSeconds, activeDeadlineSeconds, mode, suspend, queueName, priorityClassName, priority } = facts
  return {
    modelRef: { name: modelCrName },
    method,
    inputRef: { uri: inputUri, ...(inputDigest !== null && { digest: inputDigest }) },
    config: configToSpec(config),
    ...(startDeadlineSeconds !== null && { startDeadlineSeconds }),
    ...(activeDeadlineSeconds !== null && { activeDeadlineSeconds }),
    mode,
    ...(suspend && { suspend }),
    ...(queueName !== null && { queueName }),
    ...(priorityClassName !== null && { priorityClassName }),
    ...(priority !== 0 && { priority }),
  } satisfies TrainingJob['spec']
}

/** Reads what the row of a kubectl job needs from the spec of its resource. `defaultMode` is that of its base model. */
export function extractJobFacts(
  { method, inputRef, config = {}, ...spec }: TrainingJob['spec'],
  defaultMode: JobMode,
): JobSpecFacts {
  return {
    method,
    inputUri: inputRef.uri,
    inputDigest: inputRef.digest ?? null,
    config: configFromSpec(config),
    startDeadlineSeconds: spec.startDeadlineSeconds ?? null,
    activeDeadlineSeconds: spec.activeDeadlineSeconds ?? null,
    mode: spec.mode ?? defaultMode,
    suspend: spec.suspend ?? false,
    queueName: spec.queueName ?? null,
    priorityClassName: spec.priorityClassName ?? null,
    priority: spec.priority ?? 0,
  }
}

/** Builds the TrainingJob resource of a job from REST, or of one whose resource is made again. */
export function buildTrainingJob(job: TrainingJobFacts): TrainingJob {
  const { id, namespace, crName, keyId, model, retryOf, retryLimit: limit } = job
  return {
    apiVersion,
    kind: 'TrainingJob',
    metadata: {
      name: crName,
      namespace,
      labels: { [labels.id]: id, ...(retryOf !== null && { [labels.retryOf]: retryOf }), ...buildModelLabels(model) },
      finalizers: [finalizer],
    },
    spec: {
      ...buildJobSpec(job),
      ...(limit !== undefined && { retry: { limit } }),
      ...(keyId !== null && { ttlSecondsAfterFinished: keepFinishedSeconds }),
    },
  }
}
