import { describe, expect, test } from 'vitest'
import { compileQuery } from './validation/compile.ts'
import { orderedPageQuery, presentPage, resolveCursor } from './page.ts'

const present = (id: string) => ({ id })

describe('a page', () => {
  test('without items has empty ids, as in the interface document', () => {
    expect(presentPage([], 20, present)).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: '',
      last_id: '',
    })
  })

  test('leaves out the one row that only shows that there are more', () => {
    expect(presentPage(['a', 'b', 'c'], 2, present)).toEqual({
      object: 'list',
      data: [{ id: 'a' }, { id: 'b' }],
      has_more: true,
      first_id: 'a',
      last_id: 'b',
    })
  })

  test('a full last page has no next page', () => {
    expect(presentPage(['a', 'b'], 2, present)).toMatchObject({ has_more: false, last_id: 'b' })
  })
})

describe("a page's query", () => {
  const parse = compileQuery(orderedPageQuery)

  test.each([
    ['nothing', {}, { limit: 20, order: 'asc' }],
    ['texts', { limit: '1', order: 'desc', after: 'x' }, { limit: 1, order: 'desc', after: 'x' }],
    ['a parameter given twice', { limit: ['1', '2'] }, { limit: 2, order: 'asc' }],
    ['unknown parameters', { foo: 'bar' }, { limit: 20, order: 'asc', foo: 'bar' }],
  ])('is read from %s', (_, given, expected) => {
    expect(parse(given)).toEqual(expected)
  })

  test.each([
    ['0', 'greater_than_equal'],
    ['101', 'less_than_equal'],
    ['x', 'int_parsing'],
    ['1.5', 'int_parsing'],
    ['', 'int_parsing'],
  ])('with limit %j is rejected', (limit, type) => {
    expect(() => parse({ limit })).toThrow(
      expect.objectContaining({ status: 422, detail: [expect.objectContaining({ loc: ['query', 'limit'], type })] }),
    )
  })
})

describe('a cursor', () => {
  const id = '0d9a3f0e-8f64-4f0a-9d0e-4a3c1c1f5b11'
  const find = (cursor: string) => Promise.resolve(cursor === id ? 0 : undefined)

  test('is the position of the item that it names, which may be 0', async () => {
    expect(await resolveCursor(id, find)).toBe(0)
    expect(await resolveCursor(undefined, find)).toBeUndefined()
  })

  test.each(['', 'x', '00000000-0000-4000-8000-000000000000', `${id}\0`])(
    '%j names no item of the list',
    async (after) => {
      await expect(resolveCursor(after, find)).rejects.toMatchObject({
        status: 422,
        detail: [{ loc: ['query', 'after'], type: 'value_error' }],
      })
    },
  )
})
