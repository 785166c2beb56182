import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

/** A value of an annotation and the JSON Schema (an object) that its specification has for it, as JSON texts. */
export interface CheckTask {
  schema: string
  value: string
}

export type CheckOutcome = 'valid' | 'invalid' | 'bad schema'

// Formats are only descriptions, as for the Python package jsonschema, which people's schemas were written for.
// Schemas are not checked before: whatever is not understood shows when it is compiled.
const options = {
  strict: false,
  validateFormats: false,
  validateSchema: false,
  meta: false,
  logger: false,
  code: { regExp: compilePattern },
} as const

/**
 * Checks a value. What a hostile schema takes is bounded only by the thread that this runs in.
 *
 * Ajv compiles schemas to code, and runs no code of theirs: whatever of a schema goes into the code, it writes as a JSON
 * text (codegen's `safeStringify`), and names of its own making otherwise. Patterns are given to RegExp as values, `$ref`
 * loads nothing, and of keywords there are only those of JSON Schema. Should that fail, the thread has no environment, no
 * arguments and no messages but tasks.
 */
export function checkValue({ schema, value }: CheckTask): CheckOutcome {
  try {
    const validate = compile(JSON.parse(schema) as Record<string, unknown>)
    return validate(JSON.parse(value)) === true ? 'valid' : 'invalid'
  } catch {
    return 'bad schema'
  }
}

function compile({ $schema, $async, ...rest }: Record<string, unknown>): (value: unknown) => unknown {
  // Ajv's own; nobody would wait for the promise, and its rejection would end the thread.
  if ($async !== undefined) throw new Error('$async is not a JSON Schema keyword')
  return new (dialectOf($schema))(options).compile(rest)
}

function dialectOf(name: unknown): typeof Ajv | typeof Ajv2019 | typeof Ajv2020 {
  if (typeof name !== 'string') return Ajv2020
  if (/draft-0[3467]/.test(name)) return Ajv
  return name.includes('2019-09') ? Ajv2019 : Ajv2020
}

/** Older patterns have escapes that mean nothing, which the Unicode mode refuses. */
function compilePattern(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return new RegExp(pattern)
  }
}
// Generated code that is not used here would name it.
compilePattern.code = 'RegExp'
