import { expect, test } from 'vitest'
import { pickNewWarnings } from './warnings.ts'

const warn = (code: string, message = code) => ({ code, message })

test('known warnings are not reported again, and no warning is reported twice', () => {
  const known = [warn('a'), warn('b')]
  const reported = [warn('b'), warn('c'), warn('b', 'of another thing'), warn('c'), warn('a')]
  expect(pickNewWarnings(known, reported)).toEqual([warn('c'), warn('b', 'of another thing')])
  expect(pickNewWarnings([], [])).toEqual([])
})

test('a job keeps its first twenty warnings', () => {
  const many = Array.from({ length: 15 }, (_, index) => warn(`a${index}`))
  expect(
    pickNewWarnings(
      many,
      many.map(({ code }) => warn(code, 'again')),
    ),
  ).toHaveLength(5)
})
