import { describe, expect, test } from 'vitest'
import { readExpression } from './expression.ts'

const one = { $literal: 1 }
const a = { $getField: 'a' }
const root = ['body', 'query', '$expr']

test('operations and their operands are read', () => {
  const written = {
    $and: [
      { $in: [{ $convert: { input: a, to: 'string' } }, [one]] },
      { $contains: { input: a, substr: { $literal: 'x' }, case_insensitive: true }, comment: 'left alone' },
      { $not: [{ $lte: [a, { $literal: null }] }] },
    ],
  }
  const field = { kind: 'field', path: 'a' }
  const literal = { kind: 'literal', value: 1 }
  expect(readExpression(written)).toEqual({
    kind: 'and',
    operands: [
      { kind: 'in', input: { kind: 'convert', input: field, to: 'string' }, list: [literal] },
      { kind: 'contains', input: field, text: { kind: 'literal', value: 'x' }, ignoresCase: true },
      {
        kind: 'not',
        operand: { kind: 'compare', comparator: '$lte', left: field, right: { kind: 'literal', value: null } },
      },
    ],
  })
})

describe('the error for an invalid operation has its location', () => {
  test.each<[string, unknown, string[], string]>([
    ['a value that is not an object', 'x', [], 'dict_type'],
    ['a list', [], [], 'dict_type'],
    ['an unknown operator', { $regex: [] }, [], 'union_tag_not_found'],
    ['a name that all objects have', { constructor: [] }, [], 'union_tag_not_found'],
    ['two operators', { $eq: [a, one], $gt: [a, one] }, [], 'union_tag_invalid'],
    ['three operands instead of two', { $eq: [a, one, one] }, ['$eq'], 'list_length'],
    ['operands that are not a list', { $or: a }, ['$or'], 'list_type'],
    ['an invalid operand', { $or: [one, { $eq: [a, 1] }] }, ['$or', '1', '$eq', '1'], 'dict_type'],
    ['a missing list for $in', { $in: [a, one] }, ['$in', '1'], 'list_type'],
    ['a list as a literal', { $eq: [a, { $literal: [] }] }, ['$eq', '1', '$literal'], 'scalar_type'],
    ['a missing literal', { $eq: [a, { $literal: undefined }] }, ['$eq', '1', '$literal'], 'scalar_type'],
    ['a field that is not a text', { $not: [{ $getField: 1 }] }, ['$not', '0', '$getField'], 'string_type'],
    ['an unknown type', { $convert: { input: a, to: 'date' } }, ['$convert', 'to'], 'literal_error'],
    [
      'a value that is not a boolean',
      { $contains: { input: a, substr: one, case_insensitive: 'y' } },
      ['$contains', 'case_insensitive'],
      'bool_type',
    ],
    ['a missing substring', { $contains: { input: a } }, ['$contains', 'substr'], 'dict_type'],
  ])('%s', (_, written, path, type) => {
    expect(() => readExpression(written)).toThrow(
      expect.objectContaining({
        status: 422,
        detail: [{ loc: [...root, ...path], msg: expect.any(String), type }],
      }),
    )
  })
})

describe('an empty or too large expression is rejected', () => {
  const nest = (depth: number): unknown => (depth === 0 ? one : { $not: [nest(depth - 1)] })
  test.each<[string, unknown, string]>([
    ['no operands', { $and: [] }, 'Empty $and: at least one operand is needed.'],
    ['too deep', nest(65), 'Operations may be nested at most 64 levels deep.'],
    ['far too deep', nest(5_000), 'Operations may be nested at most 64 levels deep.'],
    ['too many', { $or: Array.from({ length: 10_000 }, () => one) }, 'A query has at most 10000 operands.'],
  ])('%s', (_, written, reason) => {
    expect(() => readExpression(written)).toThrow(expect.objectContaining({ status: 400, detail: reason }))
  })

  test('expressions at the limits are accepted', () => {
    expect(readExpression(nest(64))).toMatchObject({ kind: 'not' })
    expect(readExpression({ $or: Array.from({ length: 9_999 }, () => one) })).toMatchObject({ kind: 'or' })
  })
})
