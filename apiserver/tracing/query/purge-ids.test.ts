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
  ['two operators', { ...eq('a'), $or: [eq('a')] }],
])('ids to purge are not %s', (_name, expr) => {
  expect(() => readPurgeIds(expr, { takesIn: true })).toThrow('Can only purge')
})
