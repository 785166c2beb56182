import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parse } from 'yaml'
import { methodNames, type Method } from '../methods.ts'

const shared = {
  description: Type.String({ minLength: 1 }),
  otherDefault: Type.Optional(Type.String()),
  alias: Type.Optional(Type.String()),
  extension: Type.Optional(Type.Literal(true)),
  effect: Type.Optional(Type.Enum(['none', 'control-plane'])),
}
const closed = { additionalProperties: false }
const list = Type.Object(
  { description: Type.String({ minLength: 1 }), minItems: Type.Integer(), maxItems: Type.Integer() },
  closed,
)
const numeric = Type.Object(
  {
    ...shared,
    type: Type.Enum(['number', 'integer']),
    minimum: Type.Number(),
    maximum: Type.Number(),
    default: Type.Union([Type.Number(), Type.Null()]),
    list: Type.Optional(list),
  },
  closed,
)
const flag = Type.Object({ ...shared, type: Type.Literal('boolean'), default: Type.Boolean() }, closed)
const choice = Type.Object(
  { ...shared, enum: Type.Array(Type.String()), default: Type.Union([Type.String(), Type.Null()]) },
  closed,
)
const group = Type.Object(
  { ...shared, properties: Type.Record(Type.String(), Type.Union([numeric, flag])), default: Type.Null() },
  closed,
)
const settings = Type.Record(Type.String(), Type.Union([numeric, flag, choice, group]))

export type NumericSetting = Static<typeof numeric>
/** A setting that is one value. */
export type PlainSetting = NumericSetting | Static<typeof flag> | Static<typeof choice>
export type Setting = PlainSetting | Static<typeof group>
/** The settings of each method. */
export type Declaration = Record<Method, Static<typeof settings>>

/** @throws {Error} for a setting that is not declared as the head of the file requires, and without those of a method */
export function parseDeclaration(yaml: string, names: readonly Method[] = methodNames): Declaration {
  const schema = Type.Object(Object.fromEntries(names.map((name) => [name, settings])), closed)
  const declared: unknown = parse(yaml)
  if (Value.Check(schema, declared)) return declared as Declaration
  const issues = Value.Errors(schema, declared).map(({ instancePath, message }) => `${instancePath} ${message}`)
  throw new Error(`settings.yaml: ${issues.join('; ')}`)
}

export function listMethods(declaration: Declaration): Method[] {
  return Object.keys(declaration) as Method[]
}

/** The bounds of the list that can replace the setting's number. */
export function findList(setting: Setting): NumericSetting['list'] {
  return 'list' in setting ? setting.list : undefined
}

/** What a setting does. */
export function describeMeaning({ description, effect }: Setting): string {
  return effect === 'none' ? `Accepted, without effect: ${description}` : description
}

/** Formats the default of a setting for people; undefined if it has none. */
export function formatDefault(setting: Setting): string | undefined {
  if (setting.default === null) return undefined
  const text = typeof setting.default === 'number' ? formatNumber(setting.default) : String(setting.default)
  return setting.otherDefault === undefined ? text : `${text} (${setting.otherDefault})`
}

/** Writes 0.00005 as 5e-5. */
function formatNumber(value: number): string {
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value)
}
