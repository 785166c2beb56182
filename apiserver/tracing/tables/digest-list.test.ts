import { expect, test } from 'vitest'
import { DigestList } from './digest-list.ts'

test('changes as an array does', () => {
  const expected = Array.from({ length: 10 }, (_, index) => `d${index}`)
  const list = new DigestList([expected.slice(0, 4), expected.slice(4, 5), [], expected.slice(5)])
  let seed = 1
  for (let step = 0; step < 20_000; step++) {
    seed = (seed * 48_271) % 2_147_483_647
    const removes = seed % 4 === 0 && expected.length > 0
    const index = (seed >> 3) % (expected.length + (removes ? 0 : 1))
    if (removes) expect(list.remove(index)).toBe(expected.splice(index, 1)[0])
    else {
      list.insert(index, `s${step}`)
      expected.splice(index, 0, `s${step}`)
    }
    expect(list.length).toBe(expected.length)
  }
  expect(list.toArray()).toEqual(expected)
})

test('begins empty', () => {
  const list = new DigestList([])
  list.insert(0, 'a')
  expect([list.toArray(), list.remove(0), list.length]).toEqual([['a'], 'a', 0])
})
