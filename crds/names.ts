/**
 * The group, version, labels, condition types, reasons and names of the custom resources. The CRD YAML has the same
 * values.
 */
export const group = 'trainyard.dev'
export const version = 'v1alpha1'
export const apiVersion = `${group}/${version}`

/** The plural of each kind, for API paths. */
export const plurals = { BaseModel: 'basemodels', Model: 'models', TrainingJob: 'trainingjobs' } as const
export type Kind = keyof typeof plurals

export const labels = {
  /** The UUID of the resource's row in Postgres. */
  id: `${group}/id`,
  /** On a TrainingJob: the id of the ended job that it repeats. */
  retryOf: `${group}/retry-of`,
  /** The metadata.name of the BaseModel of a pod, a Model or a TrainingJob. */
  baseModel: `${group}/base-model`,
  /** The parts of the model's name, on a Model and on its TrainingJobs. */
  entity: `${group}/entity`,
  project: `${group}/project`,
  model: `${group}/model`,
  /** On a BaseModel that was made from the chart's `defaults` by the apiserver, or from its `baseModels` by the operator. */
  madeFrom: `${group}/made-from`,
  /** `engine` or `trainer` */
  component: `${group}/component`,
  /** Where the pod's base model comes from: a member of `spec.source`. A NetworkPolicy of the chart reads it. */
  source: `${group}/source`,
  /** The hash of the pod's specification. */
  specHash: `${group}/spec-hash`,
  /** On a Job and its pods: the id of the only job that they train. */
  job: `${group}/job`,
} as const

export const madeFromDefaults = 'defaults'
export const madeFromValues = 'values'

/** A Model or a TrainingJob with this finalizer is gone only after the operator has recorded its deletion. */
export const finalizer = `${group}/operator`

/** Annotations of trainer pods, of BaseModels and of Deployments. */
export const annotations = {
  /** On a Deployment: the generation of its BaseModel. Changes that have the same one come from the operator's settings. */
  baseModelGeneration: `${group}/base-model-generation`,
  /** On a Deployment: when its engines were last told to be replaced. */
  rolledOutAt: `${group}/rolled-out-at`,
  /** On the Deployment of a control part: the digest of the Secrets of others that its pods have read. */
  secretsDigest: `${group}/secrets-digest`,
  /** On the pods of a control part: when they were replaced because a Secret of others had changed. */
  secretsChangedAt: `${group}/secrets-changed-at`,
  /** On a Job and its pods: the TrainingJob, as `namespace/name`. */
  trainingJob: `${group}/training-job`,
  /** On a trainer pod: how those pods failed whose place it has taken. */
  failures: `${group}/failures`,
  failureReason: `${group}/failure-reason`,
  failureMessage: `${group}/failure-message`,
  /** `true` on a BaseModel: its weights equal those that the models of its name were trained on. */
  replacesSource: `${group}/replaces-source`,
} as const

export const conditions = {
  accepted: 'Accepted',
  adaptersLoaded: 'AdaptersLoaded',
  aliasesApplied: 'AliasesApplied',
  enginesUpToDate: 'EnginesUpToDate',
  layersTrained: 'LayersTrained',
  keptLoaded: 'KeptLoaded',
  podsReady: 'PodsReady',
  quotaReserved: 'QuotaReserved',
  stalled: 'Stalled',
  suspended: 'Suspended',
  ready: 'Ready',
  workloadAvailable: 'WorkloadAvailable',
  progressing: 'Progressing',
  published: 'Published',
  complete: 'Complete',
  degraded: 'Degraded',
  failed: 'Failed',
  finished: 'Finished',
} as const

/** The operator's own reasons. Others come from pods (ImagePullBackOff) and trainers (CudaOutOfMemory). */
export const reasons = {
  accepted: 'Accepted',
  aliasesApplied: 'AliasesApplied',
  adapterNotLoaded: 'AdapterNotLoaded',
  allLayersTrained: 'AllLayersTrained',
  alreadyRan: 'AlreadyRan',
  baseModelNotAccepted: 'BaseModelNotAccepted',
  baseModelNotFound: 'BaseModelNotFound',
  cancelled: 'Cancelled',
  claimed: 'Claimed',
  deadlineExceeded: 'DeadlineExceeded',
  downloading: 'Downloading',
  engineAtZero: 'EngineAtZero',
  engineNotReady: 'EngineNotReady',
  enginesUpToDate: 'EnginesUpToDate',
  entityNotAllowed: 'EntityNotAllowed',
  evicted: 'Evicted',
  fetchingInput: 'FetchingInput',
  gpuSecondsUsed: 'GpuSecondsUsed',
  inputDigestMismatch: 'InputDigestMismatch',
  inputExceedsQuota: 'InputExceedsQuota',
  inputNotAllowed: 'InputNotAllowed',
  inputNotFound: 'InputNotFound',
  inputNotStored: 'InputNotStored',
  inputTooLarge: 'InputTooLarge',
  inputUnreachable: 'InputUnreachable',
  keepLoadedLimit: 'KeepLoadedLimit',
  keptLoaded: 'KeptLoaded',
  layersNotTrained: 'LayersNotTrained',
  loaded: 'Loaded',
  loadedOnDemand: 'LoadedOnDemand',
  loading: 'Loading',
  loadingCheckpoint: 'LoadingCheckpoint',
  modelNotAccepted: 'ModelNotAccepted',
  modelNotFound: 'ModelNotFound',
  nameConflict: 'NameConflict',
  noCheckpoint: 'NoCheckpoint',
  nodeFailure: 'NodeFailure',
  notFinished: 'NotFinished',
  paused: 'Paused',
  podDeleted: 'PodDeleted',
  podNotReady: 'PodNotReady',
  podsReady: 'PodsReady',
  podSecurityViolation: 'PodSecurityViolation',
  priorityClassNotAllowed: 'PriorityClassNotAllowed',
  published: 'Published',
  quotaReserved: 'QuotaReserved',
  ready: 'Ready',
  scaledToZero: 'ScaledToZero',
  servesNewestStep: 'ServesNewestStep',
  sourceChanged: 'SourceChanged',
  startDeadlineExceeded: 'StartDeadlineExceeded',
  stalled: 'Stalled',
  stepNotFound: 'StepNotFound',
  stepReported: 'StepReported',
  resumed: 'Resumed',
  stopping: 'Stopping',
  succeeded: 'Succeeded',
  suspended: 'Suspended',
  suspending: 'Suspending',
  trainerLost: 'TrainerLost',
  trainerNotReady: 'TrainerNotReady',
  trainerStopped: 'TrainerStopped',
  waitingForModel: 'WaitingForModel',
  waitingForBaseModel: 'WaitingForBaseModel',
  waitingForPod: 'WaitingForPod',
  waitingForQuota: 'WaitingForQuota',
  waitingForOperator: 'WaitingForOperator',
  waitingForTrainer: 'WaitingForTrainer',
} as const

/** The name of a model for clients and people: `entity/project/name`. */
export function servedName(model: { entity: string; project: string; name: string }): string {
  return `${model.entity}/${model.project}/${model.name}`
}

/**
 * The name of a row's resource: a slug of `slugSource` (a model's name) of at most 40 characters, `-`, and the last 12
 * hex digits of the row's UUID. It is always a DNS label of at most 53 characters.
 */
export function resourceName(slugSource: string, id: string): string {
  return `${slugOf(slugSource, 40)}-${id.replaceAll('-', '').slice(-12)}`
}

/** A text as a part of a resource's name: lower-case letters, digits and hyphens, at least one character. */
export function slugOf(text: string, maxLength: number): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, maxLength)
    .replace(/-+$/, '')
  return slug || 'x'
}

/** The pattern of aliases, as the text of a regular expression. */
export const aliasPattern = '^[A-Za-z][A-Za-z0-9._-]*$'
export const maxAliasLength = 63

// Addresses use these for steps and versions: `:latest`, `:step12`, `:v3`.
const reservedAlias = /^(latest|step[.-]?\d*|v\d+)$/i

/** Whether a text can be an alias of a model's step. */
export function isAlias(text: string): boolean {
  return text.length <= maxAliasLength && new RegExp(aliasPattern).test(text) && !reservedAlias.test(text)
}

// Pages of the web console have these names in place of a project.
const reservedProjects: ReadonlySet<string> = new Set(['usage', 'settings', 'members'])

/** Whether a name is reserved, because it means something else in addresses. */
export function isReservedProject(name: string): boolean {
  return reservedProjects.has(name.toLowerCase())
}
