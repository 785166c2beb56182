import { describe, expect, test } from 'vitest'
import {
  nextOrder,
  parseSearch,
  readInteger,
  readList,
  readNext,
  readOrder,
  toggle,
  writeList,
  writeSearch,
} from './search.ts'

test('a state has one address, and the address has the state', () => {
  const search = { sort: '-created', q: 'a b&c', pick: 'x,y', peek: undefined, base: '' }
  expect(writeSearch(search)).toBe('?pick=x,y&q=a+b%26c&sort=-created')
  expect(parseSearch(writeSearch(search))).toEqual({ sort: '-created', q: 'a b&c', pick: 'x,y' })
  expect(writeSearch({})).toBe('')
})

test('a repeated name is a list', () => {
  expect(parseSearch('?m=a&q=b&m=c/d:e')).toEqual({ m: 'a,c/d:e', q: 'b' })
})

test('lists have each item once, and leave the address when they are empty', () => {
  expect(readList('a,b,,a,c', 2)).toEqual(['a', 'b'])
  expect(readList(undefined)).toEqual([])
  expect(writeList([])).toBeUndefined()
  expect(toggle(toggle(['a'], 'b'), 'a')).toEqual(['b'])
})

test.each([
  ['12', 12],
  ['0', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['12345678901', undefined],
  [undefined, undefined],
])('the step %s is %s', (text, value) => {
  expect(readInteger(text)).toBe(value)
})

describe('the order of a table', () => {
  const defaultOrder = { column: 'created', descending: true }

  test('is read from the address; unknown columns have the usual order', () => {
    expect(readOrder('-step', ['step'], defaultOrder)).toEqual({ column: 'step', descending: true })
    expect(readOrder('step', ['step'], defaultOrder)).toEqual({ column: 'step', descending: false })
    expect(readOrder('constructor', ['step'], defaultOrder)).toEqual(defaultOrder)
  })

  test('turns round with the second click', () => {
    expect(nextOrder(defaultOrder, 'step')).toBe('-step')
    expect(nextOrder({ column: 'step', descending: true }, 'step')).toBe('step')
    expect(nextOrder({ column: 'step', descending: false }, 'step')).toBe('-step')
  })
})

test.each([
  ['/team/demo/runs?q=a', '/team/demo/runs?q=a'],
  ['https://evil.example', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/a\\b', '/'],
  ['javascript:alert(1)', '/'],
  ['/\t/evil.example', '/'],
  ['/login?next=/login', '/'],
  [undefined, '/'],
])('after a login, %s leads to %s', (next, path) => {
  expect(readNext(next)).toBe(path)
})
