import { expect, test } from 'vitest'
import { weekOf } from '../../db/tracing/week.ts'
import { newId } from './ids.ts'

test('a new id is a UUIDv7 of now', () => {
  const id = newId()
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(weekOf(id)).toBe(Math.floor(Date.now() / (7 * 24 * 3600 * 1000)))
  expect(newId()).not.toBe(id)
})
