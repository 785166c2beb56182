/** Group, version, labels, condition types, reasons and names of the custom resources; what the CRD YAML says, for code. */
export const group = 'trainyard.dev'
export const version = 'v1alpha1'
export const apiVersion = `${group}/${version}`

/** Plural of each kind, as in API paths. */
export const plurals = { BaseModel: 'basemodels', Model: 'models', TrainingJob: 'trainingjobs' } as const
export type Kind = keyof typeof plurals

export const labels = {
  /** uuid of the row in Postgres that a resource was made for */
  id: `${group}/id`,
  /** metadata.name of the BaseModel that a pod belongs to */
  baseModel: `${group}/base-model`,
  /** `engine` or `trainer` */
  component: `${group}/component`,
  /** hash of the specification that a pod was made from */
  specHash: `${group}/spec-hash`,
} as const

export const conditions = {
  accepted: 'Accepted',
  aliasesApplied: 'AliasesApplied',
  ready: 'Ready',
  workloadAvailable: 'WorkloadAvailable',
  progressing: 'Progressing',
  published: 'Published',
  complete: 'Complete',
  failed: 'Failed',
} as const

/** Reasons that the operator gives itself; others come from pods (ImagePullBackOff) and trainers (CudaOutOfMemory). */
export const reasons = {
  accepted: 'Accepted',
  aliasesApplied: 'AliasesApplied',
  alreadyRan: 'AlreadyRan',
  baseModelNotAccepted: 'BaseModelNotAccepted',
  baseModelNotFound: 'BaseModelNotFound',
  cancelled: 'Cancelled',
  claimed: 'Claimed',
  engineAtZero: 'EngineAtZero',
  engineNotReady: 'EngineNotReady',
  fetchingInput: 'FetchingInput',
  inputDigestMismatch: 'InputDigestMismatch',
  inputExceedsQuota: 'InputExceedsQuota',
  inputNotAllowed: 'InputNotAllowed',
  inputNotFound: 'InputNotFound',
  inputNotStored: 'InputNotStored',
  inputTooLarge: 'InputTooLarge',
  inputUnreachable: 'InputUnreachable',
  loadingCheckpoint: 'LoadingCheckpoint',
  modelNotAccepted: 'ModelNotAccepted',
  modelNotFound: 'ModelNotFound',
  nameConflict: 'NameConflict',
  notFinished: 'NotFinished',
  published: 'Published',
  ready: 'Ready',
  stepNotFound: 'StepNotFound',
  stepReported: 'StepReported',
  succeeded: 'Succeeded',
  trainerNotReady: 'TrainerNotReady',
  trainerStopped: 'TrainerStopped',
  waitingForModel: 'WaitingForModel',
  waitingForOperator: 'WaitingForOperator',
  waitingForTrainer: 'WaitingForTrainer',
} as const

/** What clients and people call a model: `entity/project/name`. */
export function servedName(model: { entity: string; project: string; name: string }): string {
  return `${model.entity}/${model.project}/${model.name}`
}

/**
 * The name of a resource made for a row: a slug of `slugSource` (a model's name) of at most 40 characters, `-`, and the
 * last 12 hex digits of the row's uuid. Always a DNS label (at most 53 characters).
 */
export function resourceName(slugSource: string, id: string): string {
  const slug = slugSource
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return `${slug || 'x'}-${id.replaceAll('-', '').slice(-12)}`
}

/** What an alias of a step may be called, as the text of an expression. */
export const aliasPattern = '^[A-Za-z][A-Za-z0-9._-]*$'
/** The longest that it may be. */
export const maxAliasLength = 63

// Addresses have these for steps and versions: `:latest`, `:step12`, `:v3`.
const reservedAlias = /^(latest|step[.-]?\d*|v\d+)$/i

/** Whether a text can be an alias of a model's step. */
export function isAlias(text: string): boolean {
  return text.length <= maxAliasLength && new RegExp(aliasPattern).test(text) && !reservedAlias.test(text)
}

// The web console's pages have these in the place of a project.
const reservedProjects: ReadonlySet<string> = new Set(['usage', 'settings', 'members'])

/** Whether a name cannot be a project's, because it would stand for something else in addresses. */
export function isReservedProject(name: string): boolean {
  return reservedProjects.has(name.toLowerCase())
}
