import { expect, test } from 'vitest'
import { ChatSlots } from './chat-slots.ts'

const tooMany = expect.objectContaining({ status: 429, headers: { 'Retry-After': '1' } }) as unknown

test('an entity has as many chats under way as it may, whatever others do', () => {
  const slots = new ChatSlots()
  const first = slots.take('team', 2)
  const second = slots.take('team', 2)
  expect(() => slots.take('team', 2)).toThrow(tooMany)
  slots.take('other', 1)
  first()
  first()
  slots.take('team', 2)
  expect(() => slots.take('team', 2)).toThrow(tooMany)
  second()
  slots.take('team', 2)
})

test('without a limit nothing is refused, and a limit that comes later counts all', () => {
  const slots = new ChatSlots()
  for (let times = 0; times < 5; times++) slots.take('team', null)
  expect(() => slots.take('team', 5)).toThrow(tooMany)
})

test('a limit of none refuses all', () => {
  expect(() => new ChatSlots().take('team', 0)).toThrow(tooMany)
})
