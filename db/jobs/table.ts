import type { Method } from '../../crds/methods.ts'
import type { JobState } from '../../crds/job-states.ts'
import type { JobMode, JobSpecFacts } from '../../crds/manifests.ts'
import { column, type Column, type RowOf } from '../columns.ts'
import type { JobFailure } from './attempts.ts'
import type { JobWarning } from './warnings.ts'

/** The columns that are also in the spec of a job's resource. The REST interface and the operator read all of them. */
export const jobSpecColumns = {
  method: column<Method>('method', 'text'),
  inputUri: column<string>('input_uri', 'text'),
  inputDigest: column<string | null>('input_digest', 'text'),
  config: column<Record<string, unknown>>('config', 'jsonb'),
  startDeadlineSeconds: column<number | null>('start_deadline_seconds', 'integer'),
  activeDeadlineSeconds: column<number | null>('active_deadline_seconds', 'integer'),
  mode: column<JobMode>('mode', 'text'),
  suspend: column<boolean>('suspend', 'boolean'),
  queueName: column<string | null>('queue_name', 'text'),
  priorityClassName: column<string | null>('priority_class_name', 'text'),
  priority: column<number>('priority', 'integer'),
} satisfies { [Field in keyof JobSpecFacts]: Column<JobSpecFacts[Field]> }

/** The columns of a new job, from REST or from kubectl. */
export const newJobColumns = {
  id: column<string>('id', 'uuid'),
  modelId: column<string>('model_id', 'uuid'),
  ...jobSpecColumns,
  /** The key of the request; null for kubectl. */
  keyId: column<string | null>('key_id', 'uuid'),
  /** The client's address of the training data. The input's address is what it resolved to. Null for RL. */
  trainingDataUrl: column<string | null>('training_data_url', 'text'),
  /** SFT only: any object of the client's. */
  experimentalConfig: column<Record<string, unknown> | null>('experimental_config', 'json'),
  /** The size of an input that is stored for this job only. */
  inputBytes: column<number | null>('input_bytes', 'bigint'),
  /** Warnings about ignored fields of the request. */
  creationWarnings: column<JobWarning[]>('creation_warnings', 'jsonb'),
  /** The ended job whose input and settings this one has again. */
  retryOf: column<string | null>('retry_of', 'uuid'),
  maxAttempts: column<number>('max_attempts', 'integer'),
  specDigest: column<string>('spec_digest', 'text'),
  namespace: column<string>('namespace', 'text'),
  /** The name of the custom resource. */
  crName: column<string>('cr_name', 'text'),
  /** Null if the resource is still to be created. */
  resourceCreatedAt: column<Date | null>('resource_created_at', 'timestamptz'),
}

/** The columns of `training.jobs` that are read into rows. Only SQL uses the columns of leases and fences. */
export const jobColumns = {
  ...newJobColumns,
  arrival: column<number>('arrival', 'bigint'),
  entity: column<string>('entity', 'text'),
  state: column<JobState>('state', 'text'),
  attempt: column<number>('attempt', 'integer'),
  holderPod: column<string | null>('holder_pod', 'uuid'),
  /** The checkpoint that the newest attempt will write. */
  checkpointId: column<string | null>('checkpoint_id', 'uuid'),
  /** The step that the checkpoint will have. */
  step: column<number | null>('step', 'integer'),
  progressStep: column<number>('progress_step', 'integer'),
  progressTotal: column<number | null>('progress_total', 'integer'),
  failure: column<JobFailure | null>('failure', 'jsonb'),
  trainingWarnings: column<JobWarning[]>('training_warnings', 'jsonb'),
  /** Why the last fetch of the input failed. */
  inputError: column<string | null>('input_error', 'text'),
  createdAt: column<Date>('created_at', 'timestamptz'),
  queuedAt: column<Date | null>('queued_at', 'timestamptz'),
  claimedAt: column<Date | null>('claimed_at', 'timestamptz'),
  startedAt: column<Date | null>('started_at', 'timestamptz'),
  /** When its trainer last reported a start, a step or a save. */
  reportedAt: column<Date | null>('reported_at', 'timestamptz'),
  trainedAt: column<Date | null>('trained_at', 'timestamptz'),
  finishedAt: column<Date | null>('finished_at', 'timestamptz'),
  /** What was asked over REST, and is not yet in its resource. */
  suspendAsked: column<boolean | null>('suspend_asked', 'boolean'),
  /** Since when it is suspended, and has no pods. */
  suspendedAt: column<Date | null>('suspended_at', 'timestamptz'),
  /** Why it waits, as far as its own pods tell; null if they only need time. */
  waitingReason: column<string | null>('waiting_reason', 'text'),
  /** How long it was suspended before. */
  suspendedSeconds: column<number>('suspended_seconds', 'double precision'),
}

export type NewJob = RowOf<typeof newJobColumns>
