import { expect, test } from 'vitest'
import { createChatSlots, createEventSlots } from './slots.ts'

const tooMany = expect.objectContaining({ status: 429, headers: { 'Retry-After': '1' } }) as unknown

test('an entity has as many concurrent chats as its limit, independently of others', () => {
  const slots = createChatSlots()
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

test('without a limit nothing is rejected, and a later limit counts all chats', () => {
  const slots = createChatSlots()
  for (let times = 0; times < 5; times++) slots.take('team', Infinity)
  expect(() => slots.take('team', 5)).toThrow(tooMany)
})

test('a limit of zero rejects everything, and the error names it', () => {
  expect(() => createChatSlots().take('team', 0)).toThrow(tooMany)
  const streams = createEventSlots()
  streams.take('acme', 1)
  expect(() => streams.take('acme', 1)).toThrow(
    'acme has 1 open event streams, and its limit event_streams is 1. Close one, or ask for a higher limit.',
  )
})
