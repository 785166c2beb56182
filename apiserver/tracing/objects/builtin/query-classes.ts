import type { Value } from '../../../../lib/json/value.ts'
import {
  anything,
  boolean,
  listOf,
  FieldError,
  objectOf,
  oneOf,
  orNull,
  text,
  tupleOf,
  withDefault,
  type Field,
} from './fields.ts'

const operation = (name: string, key: string, field: Field) =>
  objectOf({ name, bases: ['BaseModel'], fields: { [key]: field } })

/** An operand of a query. An operation is recognized by its single key. */
const operand: Field = (value, path) => readOperation(operands, value, path)
const list = listOf(operand)
const pair = tupleOf(operand, operand)

const operations: Record<string, Field> = {
  $and: operation('AndOperation', '$and', list),
  $or: operation('OrOperation', '$or', list),
  $not: operation('NotOperation', '$not', tupleOf(operand)),
  $eq: operation('EqOperation', '$eq', pair),
  $gt: operation('GtOperation', '$gt', pair),
  $gte: operation('GteOperation', '$gte', pair),
  $in: operation('InOperation', '$in', tupleOf(operand, list)),
  $contains: operation(
    'ContainsOperation',
    '$contains',
    objectOf({
      name: 'ContainsSpec',
      bases: ['BaseModel'],
      fields: { input: operand, substr: operand, case_insensitive: withDefault(orNull(boolean).field, () => false) },
    }),
  ),
}

const operands: Record<string, Field> = {
  $literal: operation('LiteralOperation', '$literal', anything),
  $getField: operation('GetFieldOperator', '$getField', text),
  $convert: operation(
    'ConvertOperation',
    '$convert',
    objectOf({
      name: 'ConvertSpec',
      bases: ['BaseModel'],
      fields: { input: operand, to: oneOf('double', 'string', 'int', 'bool', 'exists') },
    }),
  ),
  ...operations,
}

function readOperation(known: Record<string, Field>, value: Value, path: string): Value {
  const key = value instanceof Map ? [...value.keys()].find((name) => Object.hasOwn(known, name)) : undefined
  if (key === undefined) throw new FieldError(`${path} must be one of ${Object.keys(known).join(', ')}`)
  return known[key]!(value, path)
}

/** The query of a request for calls. */
export const query = objectOf({
  name: 'Query',
  bases: ['BaseModel'],
  isStrict: true,
  fields: { $expr: (value, path) => readOperation(operations, value, path) },
})

const listOfTexts = orNull(listOf(text))

export const callsFilter = objectOf({
  name: 'CallsFilter',
  bases: ['BaseModelStrict', 'BaseModel'],
  isStrict: true,
  fields: {
    op_names: listOfTexts,
    input_refs: listOfTexts,
    output_refs: listOfTexts,
    parent_ids: listOfTexts,
    trace_ids: listOfTexts,
    call_ids: listOfTexts,
    thread_ids: listOfTexts,
    turn_ids: listOfTexts,
    trace_roots_only: orNull(boolean),
    wb_user_ids: listOfTexts,
    wb_run_ids: listOfTexts,
  },
})

export const sortBy = objectOf({
  name: 'SortBy',
  bases: ['BaseModelStrict', 'BaseModel'],
  isStrict: true,
  fields: { field: text, direction: oneOf('asc', 'desc') },
})
