import { expect, test } from 'vitest'
import { MemoryBudget } from '../../../lib/memory-budget.ts'
import { ExcessMemory } from './excess-memory.ts'
import { RequestReservation } from './request-memory.ts'

test('only bytes beyond the free part count, and rejected ones do not', () => {
  const budget = new MemoryBudget(1_000)
  const held = new ExcessMemory(new RequestReservation('team', budget.open('team')), 100)
  held.resize(100)
  expect(budget.bytes).toBe(0)
  held.resize(300)
  expect(budget.bytes).toBe(200)
  expect(() => held.resize(5_000)).toThrow(expect.objectContaining({ status: 413 }) as Error)
  expect(budget.bytes).toBe(200)
  held.resize(150)
  expect(budget.bytes).toBe(50)
  held.resize(0)
  expect(budget.bytes).toBe(0)
})
