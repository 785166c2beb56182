import { Ajv2020 } from 'ajv/dist/2020.js'
import { writeValue } from '../../../../lib/json/value.ts'
import { FieldError, type Field } from './fields.ts'

// The same limit as for schemas that check values. Typical schemas have some hundred characters.
const maxSchemaLength = 64 * 1024

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })

/** An object that is a valid JSON Schema. */
export const jsonSchema: Field = (value, path) => {
  if (!(value instanceof Map)) throw new FieldError(`${path} must be an object`)
  const written = writeValue(value)
  if (written.length > maxSchemaLength) throw new FieldError(`${path} must have at most ${maxSchemaLength} characters`)
  // `$schema` chooses the draft when values are checked. Here only the rules of all drafts are checked.
  const { $schema: _, ...schema } = JSON.parse(written) as Record<string, unknown>
  if (ajv.validateSchema(schema) !== true) throw new FieldError(`${path} must be a JSON Schema: ${ajv.errorsText()}`)
  return value
}
