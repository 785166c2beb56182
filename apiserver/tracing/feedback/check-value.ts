import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parseText } from '../../../lib/json/parse-text.ts'

/** An annotation's value, and the JSON Schema (an object) from its specification, as JSON texts. */
export interface CheckTask {
  schema: string
  value: string
}

export type CheckOutcome = 'valid' | 'invalid' | 'bad schema'

// Formats are not validated: the schemas were written for the Python package jsonschema, which ignores formats. Schemas
// are not validated beforehand, because compiling them shows what is wrong.
const options = {
  strict: false,
  validateFormats: false,
  validateSchema: false,
  meta: false,
  logger: false,
  code: { regExp: compilePattern },
} as const

/**
 * Checks a value against a schema. Only the worker thread limits the time and memory of a hostile schema.
 *
 * Ajv compiles a schema to code. The schema cannot put code of its own there: Ajv writes its texts as JSON strings
 * (codegen's `safeStringify`) and chooses all names. Patterns are passed to RegExp as values, `$ref` loads nothing, and
 * only the keywords of JSON Schema exist. If this failed, the thread would still have no environment variables, no
 * arguments, and no messages except tasks.
 */
export function checkValue({ schema, value }: CheckTask): CheckOutcome {
  try {
    const validate = compile(parseText(schema) as Record<string, unknown>)
    return validate(parseText(value)) === true ? 'valid' : 'invalid'
  } catch {
    return 'bad schema'
  }
}

function compile({ $schema, $async, ...rest }: Record<string, unknown>): (value: unknown) => unknown {
  // `$async` is an extension of Ajv. Nothing would await the promise, and its rejection would end the thread.
  if ($async !== undefined) throw new Error('$async is not a JSON Schema keyword')
  return new (dialectOf($schema))(options).compile(rest)
}

function dialectOf(name: unknown): typeof Ajv | typeof Ajv2019 | typeof Ajv2020 {
  if (typeof name !== 'string') return Ajv2020
  if (/draft-0[3467]/.test(name)) return Ajv
  return name.includes('2019-09') ? Ajv2019 : Ajv2020
}

/** Older patterns have escapes without a meaning. The Unicode mode rejects these. */
function compilePattern(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return new RegExp(pattern)
  }
}
// Ajv's standalone code would use this name. It is not generated here.
compilePattern.code = 'RegExp'
