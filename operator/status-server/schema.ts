import { patternOf, scheme, type Kind } from '../../artifacts/layout.ts'
import { Ajv, type ValidateFunction } from 'ajv'
import { Type, type Static, type TSchema } from 'typebox'
import { maxSeq } from '../../db/jobs/logs.ts'
import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from './errors.ts'

// Not the format "uuid" of ajv-formats: it also accepts "urn:uuid:...", which Postgres rejects.
const uuidPattern = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
// In Postgres' form, so that a folder has only one name.
/** The address of an object in the artifact store. */
const uriPattern = (kind: Kind) => `^${scheme}${patternOf(kind)}$`
const maxInteger = 2_147_483_646 // Postgres integer. The terminal event has one more.
const name = '^[A-Za-z0-9_./:@-]{1,100}$'
const numbers = Type.Record(Type.String({ pattern: name }), Type.Number(), {
  maxProperties: 200,
  additionalProperties: false,
})

export const claimBody = Type.Object({
  base_model: Type.String({ minLength: 1, maxLength: 300 }),
  process_id: Type.String({ pattern: uuidPattern }),
  wait_seconds: Type.Number({ minimum: 0, maximum: 25 }),
  gpus: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  // The jobs that this process works on.
  holding: Type.Array(Type.String({ pattern: uuidPattern }), { maxItems: 1_000 }),
  // The only job that it wants: it is in a pod of this job.
  job_id: Type.Optional(Type.String({ pattern: uuidPattern })),
})

const warnings = Type.Optional(
  Type.Array(
    Type.Object({
      // It also becomes the reason of a Kubernetes Event.
      code: Type.String({ pattern: '^[a-z]([a-z0-9_]{0,62}[a-z0-9])?$' }),
      message: Type.String({ minLength: 1 }),
    }),
    { maxItems: 20 },
  ),
)

const startedEvent = Type.Object({
  seq: Type.Literal(0),
  type: Type.Literal('training_started'),
  data: Type.Intersect([
    Type.Object({ num_sequences: Type.Integer({ minimum: 0, maximum: maxInteger }) }),
    Type.Object({}, { maxProperties: 200 }),
  ]),
  warnings,
})

const stepEvent = Type.Object({
  seq: Type.Integer({ minimum: 1, maximum: maxInteger }),
  type: Type.Literal('gradient_step'),
  // Clients call float() on each value.
  data: numbers,
})

const event = Type.Unsafe<Static<typeof startedEvent> | Static<typeof stepEvent>>({
  type: 'object',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: [startedEvent, stepEvent],
})

export const eventsBody = Type.Object({ events: Type.Array(event, { minItems: 1, maxItems: 10_000 }) })

export const checkpointBody = Type.Object({
  uri: Type.String({ pattern: uriPattern('checkpoint') }),
  digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  metrics: numbers,
  warnings,
})

export const progressBody = Type.Object({
  uri: Type.String({ pattern: uriPattern('progress') }),
  digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  step: Type.Integer({ minimum: 0, maximum: maxInteger }),
})

export const failureBody = Type.Object({
  category: Type.Enum(['User', 'Capacity', 'Internal']),
  // The form that Kubernetes requires for the reason of a condition.
  reason: Type.String({ pattern: '^[A-Za-z]([A-Za-z0-9_]{0,98}[A-Za-z0-9])?$' }),
  message: Type.String({ minLength: 1 }),
  retryable: Type.Boolean(),
})

export const logBody = Type.Object({
  lines: Type.Array(
    Type.Object({
      seq: Type.Integer({ minimum: 0, maximum: maxSeq }),
      time: Type.String({ format: 'date-time' }),
      level: Type.Enum(['info', 'warn', 'error']),
      text: Type.String(),
    }),
    { minItems: 1, maxItems: 10_000 },
  ),
})

/** A body has the trajectories of at most one payload. The apiserver accepts 100,000 in a payload. */
const maxPushes = 100_000

export const statisticsBody = Type.Object({
  uri: Type.Union([Type.String({ pattern: uriPattern('statistics') }), Type.Null()]),
  digest: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()]),
  bytes: Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()]),
  pushes: Type.Record(Type.String({ pattern: '^[0-9]{1,6}/[0-9]{1,6}$' }), Type.Number(), {
    maxProperties: maxPushes,
    additionalProperties: false,
  }),
})

const attemptPath = Type.Object({
  id: Type.String({ pattern: uuidPattern }),
  attempt: Type.String({ pattern: '^[1-9][0-9]{0,8}$' }),
})

// JSON.parse turns 1e999 into Infinity, which strictNumbers rejects.
const ajv = new Ajv({ strict: false, strictNumbers: true, discriminator: true })
ajv.addFormat('date-time', isTime)

/** Checks the parameters of a path. @throws {HttpError} 404 */
export const requireAttemptPath = compileSchema(attemptPath, () => new HttpError(errors.unknown_job))

/** A time of this millennium, which Postgres can store. */
function isTime(text: string): boolean {
  return /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
}

/**
 * Compiles a schema into a function that returns a valid value with its type. @throws {HttpError} 422, when the
 * function is called
 */
export function compileSchema<S extends TSchema>(schema: S, buildError = explain): (value: unknown) => Static<S> {
  const validate = ajv.compile<Static<S>>(schema)
  return (value) => {
    if (validate(value)) return value
    throw buildError(validate)
  }
}

function explain(validate: ValidateFunction): HttpError {
  const error = validate.errors?.[0]
  const path = error?.instancePath.slice(1).replaceAll('/', '.') || 'the body'
  return new HttpError(errors.invalid_request, `${path} ${error?.message ?? 'is not valid'}`)
}
