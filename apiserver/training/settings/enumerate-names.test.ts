import { expect, test } from 'vitest'
import { enumerateNames } from './enumerate-names.ts'

test('names are written one after the other', () => {
  expect(enumerateNames(['one'])).toBe('one')
  expect(enumerateNames(['one', 'two', 'three'])).toBe('one, two, three')
})

test('of many names, some are written', () => {
  const names = Array.from({ length: 100 }, (_, index) => `setting_${String(index).padStart(3, '0')}`)
  const text = enumerateNames(names)
  expect(text).toMatch(/^setting_000, setting_001, .*, setting_018 and 81 more$/)
  expect(text.length).toBeLessThanOrEqual(270)
})

test('a long name is shortened', () => {
  expect(enumerateNames(['x'.repeat(1_000), 'y'])).toBe(`${'x'.repeat(64)}..., y`)
})
