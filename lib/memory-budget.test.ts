import { expect, test } from 'vitest'
import { BudgetExceeded, MemoryBudget } from './memory-budget.ts'

const ofKey = new BudgetExceeded('key', 250)
const ofAll = new BudgetExceeded('all', 1_000)

test('a key has a quarter, or one reservation of most of the budget; rejected bytes do not count', () => {
  const budget = new MemoryBudget(1_000)
  const first = budget.open('team')
  first.add(600)
  expect(() => budget.open('team').add(1)).toThrow(ofKey)
  budget.open('others').add(250)
  first.drop(500)
  const second = budget.open('team')
  second.add(150)
  expect(() => second.add(1)).toThrow(ofKey)
  expect(budget.bytes).toBe(500)
  second.release()
  expect(() => new MemoryBudget(1_000).open('team').add(876)).toThrow(new BudgetExceeded('reservation', 875))
})

test('all keys together have no more than the budget', () => {
  const budget = new MemoryBudget(1_000)
  const first = budget.open('one')
  first.add(700)
  expect(() => budget.open('two').add(400)).toThrow(ofAll)
  first.release()
  first.add(800)
  first.release()
  expect(budget.bytes).toBe(0)
  budget.open('two').add(875)
  budget.open('three').add(125)
  expect(budget.bytes).toBe(1_000)
  expect(() => budget.open('four').add(1)).toThrow(ofAll)
})
