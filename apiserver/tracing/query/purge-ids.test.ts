import { expect, test } from 'vitest'
import { readPurgeIds } from './purge-ids.ts'

const eq = (id: unknown) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] })

test.each<[string, unknown, string[]]>([
  ['one', eq('a'), ['a']],
  ['several', { $or: [eq('a'), eq('b')] }, ['a', 'b']],
  ['a list', { $in: [{ $getField: 'id' }, [{ $literal: 'a' }, { $literal: 'b' }]] }, ['a', 'b']],
  ['an empty list', { $in: [{ $getField: 'id' }, []] }, []],
])('ids to purge are %s', (_name, expr, ids) => {
  expect(readPurgeIds(expr, { takesIn: true })).toEqual(ids)
})

test.each<[string, unknown]>([
  ['a number', eq(1)],
  ['nothing', { $or: [] }],
  ['a list of numbers', { $in: [{ $getField: 'id' }, [{ $literal: 1 }]] }],
  ['a list with other conditions', { $or: [{ $in: [{ $getField: 'id' }, [{ $literal: 'a' }]] }] }],
  ['a list of another field', { $in: [{ $getField: 'llm_id' }, [{ $literal: 'a' }]] }],
  ['no condition', null],
  ['an empty condition', {}],
  ['two operators', { ...eq('a'), $or: [eq('a')] }],
  ['another field', { $eq: [{ $getField: 'creator' }, { $literal: 'a' }] }],
  ['a constant', { $eq: [{ $literal: '1' }, { $literal: '1' }] }],
  ['the wrong way round', { $eq: [{ $literal: 'a' }, { $getField: 'id' }] }],
  ['half of a pair', { $eq: [{ $getField: 'id' }] }],
  ['all but one', { $not: [eq('a')] }],
  ['two conditions', { $and: [eq('a'), eq('a')] }],
  ['nested ones', { $or: [{ $or: [eq('a')] }] }],
])('ids to purge are not %s', (_name, expr) => {
  expect(() => readPurgeIds(expr, { takesIn: true })).toThrow('Can only purge')
})

test('a list of ids is allowed only where it is said', () => {
  const among = { $in: [{ $getField: 'id' }, [{ $literal: 'a' }]] }
  expect(() => readPurgeIds(among, { takesIn: false })).toThrow('Can only purge')
})
