import { Ajv } from 'ajv'
import { Type, type Static } from 'typebox'
import type { BaseModel } from '../../../crds/generated.ts'
import { ConfigError } from '../../../lib/config.ts'

/** The parts of a BaseModel's spec that are the same for all that are made on request. */
type SpecTemplate = Omit<BaseModel['spec'], 'names' | 'source' | 'default'>

// Each of them is chosen for each model: by its name, and never as the default of all chats.
const chosen = ['names', 'source', 'default']

const schema = Type.Object(
  {
    allow: Type.Array(Type.String({ pattern: '^[A-Za-z0-9._*-]+/[A-Za-z0-9._*-]+$', maxLength: 200 }), {
      minItems: 1,
      maxItems: 64,
    }),
    maximum: Type.Integer({ minimum: 1, maximum: 100 }),
    maximumPerEntity: Type.Integer({ minimum: 1, maximum: 100 }),
    baseModel: Type.Unsafe<SpecTemplate>(
      Type.Object({}, { not: { anyOf: chosen.map((member) => ({ required: [member] })) } }),
    ),
  },
  { additionalProperties: false },
)

/** Which base models are made when a model is created from them, and how. */
export type BaseModelDefaults = Static<typeof schema>

/** Reads the setting; undefined if no base models are made. @throws {ConfigError} */
export function readDefaults(text: string | undefined): BaseModelDefaults | undefined {
  if (text === undefined) return undefined
  const value = parse(text)
  const validate = new Ajv({ strict: false }).compile<BaseModelDefaults>(schema)
  if (validate(value)) return value
  const [issue] = validate.errors ?? []
  throw invalid(`${issue?.instancePath} ${issue?.message}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('is not JSON')
  }
}

function invalid(reason: string): ConfigError {
  return new ConfigError(`bad configuration: TRAINYARD_BASE_MODEL_DEFAULTS ${reason.trim()}`)
}

// The hub's own rule for ids of models.
const hubId = /^[A-Za-z0-9](?:[A-Za-z0-9_]|[.-](?![.-]))*\/[A-Za-z0-9](?:[A-Za-z0-9_]|[.-](?![.-]))*$/
const maxIdLength = 96

/** Whether a name is an id of the hub that a pattern allows. `*` in a pattern is any characters but `/`. */
export function isAllowed(name: string, patterns: readonly string[]): boolean {
  if (name.length > maxIdLength || !hubId.test(name) || /[.-]$/.test(name)) return false
  return patterns.some((pattern) => toRegExp(pattern).test(name))
}

function toRegExp(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/\*+/g, '[^/]*')}$`)
}
