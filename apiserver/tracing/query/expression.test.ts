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

describe('what has not the form of an operation is told with its place', () => {
  test.each<[string, unknown, string[], string]>([
    ['no object', 'x', [], 'dict_type'],
    ['a list', [], [], 'dict_type'],
    ['an unknown operator', { $regex: [] }, [], 'union_tag_not_found'],
    ['a name that all objects have', { constructor: [] }, [], 'union_tag_not_found'],
    ['two operators', { $eq: [a, one], $gt: [a, one] }, [], 'union_tag_invalid'],
    ['three operands of two', { $eq: [a, one, one] }, ['$eq'], 'list_length'],
    ['no list of operands', { $or: a }, ['$or'], 'list_type'],
    ['an operand that is none', { $or: [one, { $eq: [a, 1] }] }, ['$or', '1', '$eq', '1'], 'dict_type'],
    ['no list to look in', { $in: [a, one] }, ['$in', '1'], 'list_type'],
    ['a list as a literal', { $eq: [a, { $literal: [] }] }, ['$eq', '1', '$literal'], 'scalar_type'],
    ['a literal that is missing', { $eq: [a, { $literal: undefined }] }, ['$eq', '1', '$literal'], 'scalar_type'],
    ['a field that is no text', { $not: [{ $getField: 1 }] }, ['$not', '0', '$getField'], 'string_type'],
    ['an unknown type', { $convert: { input: a, to: 'date' } }, ['$convert', 'to'], 'literal_error'],
    [
      'no yes or no',
      { $contains: { input: a, substr: one, case_insensitive: 'y' } },
      ['$contains', 'case_insensitive'],
      'bool_type',
    ],
    ['nothing to look for', { $contains: { input: a } }, ['$contains', 'substr'], 'dict_type'],
  ])('%s', (_, written, place, type) => {
    expect(() => readExpression(written)).toThrow(
      expect.objectContaining({
        status: 422,
        detail: [{ loc: [...root, ...place], msg: expect.any(String), type }],
      }),
    )
  })
})

describe('what is empty or too large is rejected', () => {
  const nest = (depth: number): unknown => (depth === 0 ? one : { $not: [nest(depth - 1)] })
  test.each<[string, unknown, string]>([
    ['no operands', { $and: [] }, 'Empty $and: at least one operand is needed.'],
    ['too deep', nest(65), 'Operations may be nested at most 64 levels deep.'],
    ['far too deep', nest(5_000), 'Operations may be nested at most 64 levels deep.'],
    ['too many', { $or: Array.from({ length: 10_000 }, () => one) }, 'A query has at most 10000 operands.'],
  ])('%s', (_, written, reason) => {
    expect(() => readExpression(written)).toThrow(expect.objectContaining({ status: 400, detail: reason }))
  })

  test('just as large is not', () => {
    expect(readExpression(nest(64))).toMatchObject({ kind: 'not' })
    expect(readExpression({ $or: Array.from({ length: 9_999 }, () => one) })).toMatchObject({ kind: 'or' })
  })
})
