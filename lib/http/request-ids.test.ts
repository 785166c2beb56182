import { expect, test } from 'vitest'
import { isUuid } from './validation/compile.ts'
import { RequestIds } from './request-ids.ts'

const seed = 'b5a1c1de-6a0f-4a58-9c3e-0d6a7f6f7f11'
const take = (ids: RequestIds) => [ids.next(), ids.next(), ids.next()]

test('ids of a request without a key are random', () => {
  const ids = [...take(new RequestIds(false)), ...take(new RequestIds(false))]
  expect(ids.every(isUuid)).toBe(true)
  expect(new Set(ids).size).toBe(6)
})

test('a repeated request gets the same ids in the same order', () => {
  const runs = [seed, seed, seed.replace('b', 'c')].map((each) => {
    const ids = new RequestIds(true)
    ids.follow(each)
    return take(ids)
  })
  expect(runs[1]).toEqual(runs[0])
  expect(new Set(runs.flat()).size).toBe(6)
  expect(runs.flat().every((id) => /^.{8}-.{4}-8.{3}-[89ab].{3}-.{12}$/.test(id) && isUuid(id))).toBe(true)
})

test('a request with a key gets no ids before its seed is known', () => {
  expect(() => new RequestIds(true).next()).toThrow('inside of answerOnce only')
})
