import { expect, test } from 'vitest'
import { PagedRows } from './paged-rows.ts'

const size = 10
const pageOf = (index: number, count = size) =>
  Array.from({ length: count }, (_, offset) => `row ${index * size + offset}`)
const pagesOf = (...pages: [number, string[]][]) => new Map(pages)

test('a row is found by its index, and the indexes of pages that are not there are empty', () => {
  const rows = new PagedRows(pagesOf([0, pageOf(0)], [7, pageOf(7)]), size, 100)
  expect([rows.length, rows.at(3), rows.at(12), rows.at(75)]).toEqual([100, 'row 3', undefined, 'row 75'])
  expect(rows.findIndex((row) => row === 'row 78')).toBe(78)
  expect(rows.findIndex((row) => row === 'row 12')).toBe(-1)
})

test.each([
  ['what someone has counted', pagesOf([0, pageOf(0)]), 35, 35],
  ['what is there, if more came since', pagesOf([0, pageOf(0)], [4, pageOf(4)]), 35, 50],
  ['the end of a page that is not full', pagesOf([0, pageOf(0)], [2, pageOf(2, 4)]), 35, 24],
  ['the end of the page before an empty one', pagesOf([0, pageOf(0)], [1, []]), 0, 10],
  ['nothing', pagesOf([0, []]), 0, 0],
])('the length is %s', (_, pages, counted, length) => {
  expect(new PagedRows(pages, size, counted)).toHaveLength(length)
})

test('the pages near some rows are wanted, and one after the last row as long as it may not be the last', () => {
  const list = new PagedRows(pagesOf([0, pageOf(0)]), size, 100)
  expect(list.listPages(0, 3)).toEqual([0])
  expect(list.listPages(0, 6)).toEqual([0, 1])
  expect(list.listPages(58, 63)).toEqual([5, 6])
  expect(list.listPages(96, 99)).toEqual([9, 10])
  expect(new PagedRows(pagesOf([0, pageOf(0)]), size).listPages(0, 9)).toEqual([0, 1])
  expect(new PagedRows(pagesOf([0, pageOf(0, 9)]), size).listPages(0, 8)).toEqual([0])
})
