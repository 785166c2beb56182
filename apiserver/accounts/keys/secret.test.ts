import { expect, test } from 'vitest'
import { digestKey, generateKey, prefixOf } from './secret.ts'

test('keys are recognisable, long enough for the wandb client, and never the same', () => {
  const keys = Array.from({ length: 100 }, generateKey)
  for (const key of keys) expect(key).toMatch(/^ty_[A-Za-z0-9]{43}$/)
  expect(new Set(keys).size).toBe(100)
})

test('the stored digest does not reveal the key', () => {
  const key = `ty_Ab3dE6${'x'.repeat(37)}`
  expect(prefixOf(key)).toBe('ty_Ab3dE6')
  expect(digestKey(key)).toHaveLength(32)
})
