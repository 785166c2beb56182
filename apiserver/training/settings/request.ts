// Everything that a client sends about a job besides its data: the request, the row and the answer. It is in one file,
// so that all methods stay consistent.

import { Type, type Static } from 'typebox'
import { isRowsMethod, type RowsMethod } from '../../../crds/methods.ts'
import type { JobMode } from '../../../crds/manifests.ts'
import type { NewJob } from '../../../db/jobs/table.ts'
import type { JobView } from '../../../db/jobs/views.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { modelIdSchema } from '../../accounts/names.ts'
import { configSchemas } from './generated.ts'
import { omitNulls } from './omit-nulls.ts'
import { warnOfIgnoredSettings } from './ignored-settings.ts'
import { pickKnown } from './known-settings.ts'
import { pickGivenConfig } from './rl-config.ts'
import { warnOfUnknownSettings } from './unknown-settings.ts'

// As in the custom resource: a year.
const maxDeadlineSeconds = 31_536_000

const deadline = (description: string) =>
  Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: maxDeadlineSeconds, description })))

/** Members of both methods' requests. */
const requestMembers = {
  model_id: modelIdSchema,
  start_deadline_seconds: deadline('The job fails if no trainer has begun it this long after its creation.'),
  active_deadline_seconds: deadline('The job fails if it is not trained this long after its first start.'),
  mode: Type.Optional(
    nullable(
      Type.Enum(['Warm', 'Dedicated'], {
        description: 'A warm trainer of the base model, or pods of its own. The default is that of the base model.',
      }),
    ),
  ),
  queue_name: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 63,
        pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
        description: 'The LocalQueue of Kueue that a Dedicated job waits in.',
      }),
    ),
  ),
  priority: Type.Optional(
    nullable(
      Type.Integer({
        minimum: -1000,
        maximum: 1000,
        description:
          'Its priority among the waiting jobs of your entity: the highest comes first, and jobs of one model keep ' +
          'their order. The default is 0.',
      }),
    ),
  ),
}

/** Members of the body of POST /v1/preview/training-jobs, besides its trajectories. */
export const rlRequestMembers = {
  ...requestMembers,
  experimental_config: Type.Optional(nullable(configSchemas.RL)),
  config: Type.Optional(
    nullable(
      Type.Object(
        {},
        {
          description: 'RL accepts only nulls here, because its settings are in experimental_config.',
        },
      ),
    ),
  ),
}

/** The body of a request for a job on rows. */
export const describeRowsRequest = (method: RowsMethod) =>
  Type.Object({
    ...requestMembers,
    training_data_url: Type.String({ minLength: 1, maxLength: 4096 }),
    config: Type.Optional(nullable(configSchemas[method])),
    // Any value is stored and returned.
    experimental_config: Type.Optional(nullable(Type.Object({}, { additionalProperties: Type.Unknown() }))),
  })

/** Members of an answer that repeat the request. */
export const requestedMembers = {
  start_deadline_seconds: nullable(Type.Integer()),
  active_deadline_seconds: nullable(Type.Integer()),
  mode: Type.Enum(['Warm', 'Dedicated']),
  queue_name: nullable(Type.String()),
  priority: Type.Integer(),
  suspend: Type.Boolean({ description: 'Whether it is suspended, or is to be.' }),
  training_data_url: nullable(Type.String()),
  config: nullable(Type.Object({}, { description: 'Settings of a method that trains on rows.' })),
  experimental_config: nullable(Type.Object({})),
}

const rlRequestSchema = Type.Object(rlRequestMembers)
const requestedSchema = Type.Object(requestedMembers)

export type RlRequest = Static<typeof rlRequestSchema>
export type RowsRequest = Static<ReturnType<typeof describeRowsRequest>>

/** Fields of a new job's row that come from its input or from `admitJob`. */
type OtherFields =
  | ('id' | 'modelId' | 'keyId' | 'inputUri' | 'inputDigest' | 'inputBytes')
  | ('maxAttempts' | 'specDigest' | 'namespace' | 'crName' | 'resourceCreatedAt')

/** Fields of a new job's row that come from its request: all others. Without a mode, it has that of its base model. */
export type RequestedFields = Omit<NewJob, OtherFields | 'mode'> & { mode: JobMode | null }

export function extractRlFields({ experimental_config: config, ...request }: RlRequest): RequestedFields {
  return {
    method: 'RL',
    ...extractCommon(request),
    config: pickGivenConfig(config),
    trainingDataUrl: null,
    experimentalConfig: null,
    creationWarnings: warnOfUnknownSettings(config, 'RL'),
  }
}

export function extractRowsFields(method: RowsMethod, request: RowsRequest): RequestedFields {
  const { config, experimental_config, training_data_url } = request
  const experimentalConfig = experimental_config ? { ...experimental_config } : null
  return {
    method,
    ...extractCommon(request),
    config: pickKnown(omitNulls(config), configSchemas[method]),
    trainingDataUrl: training_data_url,
    experimentalConfig,
    creationWarnings: [...warnOfIgnoredSettings(experimentalConfig, method), ...warnOfUnknownSettings(config, method)],
  }
}

function extractCommon(
  request: Pick<RowsRequest, Exclude<keyof typeof requestMembers, 'model_id'>>,
): Pick<
  RequestedFields,
  | ('startDeadlineSeconds' | 'activeDeadlineSeconds' | 'mode')
  | ('queueName' | 'priority' | 'priorityClassName' | 'suspend' | 'retryOf')
> {
  return {
    mode: request.mode ?? null,
    queueName: request.queue_name ?? null,
    priority: request.priority ?? 0,
    // Only a resource can name it.
    priorityClassName: null,
    suspend: false,
    retryOf: null,
    startDeadlineSeconds: request.start_deadline_seconds ?? null,
    activeDeadlineSeconds: request.active_deadline_seconds ?? null,
  }
}

/**
 * The settings of RL are presented as `experimental_config`, as they were sent. Other methods have theirs in `config`,
 * and the client's own object in `experimental_config`.
 */
export function presentRequested(job: JobView): Static<typeof requestedSchema> {
  const hasRows = isRowsMethod(job.method)
  return {
    start_deadline_seconds: job.startDeadlineSeconds,
    active_deadline_seconds: job.activeDeadlineSeconds,
    mode: job.mode,
    queue_name: job.queueName,
    priority: job.priority,
    suspend: job.suspendAsked ?? job.suspend,
    training_data_url: job.trainingDataUrl,
    config: hasRows ? job.config : null,
    experimental_config: hasRows ? job.experimentalConfig : job.config,
  }
}
