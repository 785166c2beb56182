import { expect, test } from 'vitest'
import { MemoryBudget } from '../../../lib/memory-budget.ts'
import { RequestReservation } from '../../accounts/limits/request-memory.ts'
import { ChatReader } from './chat-reader.ts'

const budget = new MemoryBudget(100_000_000)
const openReader = () => new ChatReader(new RequestReservation('team', budget.open('team')))
const chatOf = (content: string) => Buffer.from(`{"messages": [{"role": "user", "content": ${content}}]}`)
const listOf = (item: string, count: number) => `[${Array(count).fill(item).join(',')}]`

test("the memory of a chat's values is reserved until they are released", () => {
  const reader = openReader()
  const bytes = chatOf(listOf('{}', 1_000))
  expect(reader.parse(bytes).value).toHaveProperty('messages')
  expect(budget.bytes).toBeGreaterThan(bytes.length + 100 * 1_000)
  reader.letGo()
  expect(budget.bytes).toBe(0)
})

test.each([
  ['objects', chatOf(listOf('{}', 100_000)), 422, 'at most 100000 objects and lists'],
  ['values', chatOf(listOf('1', 1_000_002)), 422, 'at most 1000000 values'],
  ['bytes', chatOf(`"${'a'.repeat(16 * 1024 * 1024)}"`), 413, 'larger than 16777216 bytes'],
])('a chat with too many %s is rejected before it is parsed', (_, bytes, status, message) => {
  const error = expect.objectContaining({ status, message: expect.stringContaining(message) as string }) as Error
  expect(() => openReader().parse(bytes)).toThrow(error)
  expect(budget.bytes).toBe(0)
})

test('a chat of a million token ids and a chat of sixteen megabytes are accepted', () => {
  const reader = openReader()
  expect(reader.parse(chatOf(listOf('151643', 900_000)))).toBeDefined()
  reader.letGo()
  expect(reader.parse(chatOf(`"${'a'.repeat(16_000_000)}"`))).toBeDefined()
  reader.letGo()
})

test('a chat that does not fit into memory is rejected before it is parsed', () => {
  const small = new MemoryBudget(1_000)
  const reader = new ChatReader(new RequestReservation('team', small.open('team')))
  expect(() => reader.parse(chatOf(listOf('{}', 1_000)))).toThrow(expect.objectContaining({ status: 413 }) as Error)
  expect(small.bytes).toBe(0)
})
