import { expect, test } from 'vitest'
import { createChatSlots, createEventSlots } from './slots.ts'

const tooMany = expect.objectContaining({ status: 429, headers: { 'Retry-After': '1' } }) as unknown

test('an entity has as many concurrent chats as its limit, independently of others', async () => {
  const slots = createChatSlots()
  const first = await slots.take('team', 2)
  const second = await slots.take('team', 2)
  await expect(slots.take('team', 2)).rejects.toThrow(tooMany)
  await slots.take('other', 1)
  first()
  first()
  await slots.take('team', 2)
  await expect(slots.take('team', 2)).rejects.toThrow(tooMany)
  second()
  await slots.take('team', 2)
})

test('without a limit nothing is rejected, and a later limit counts all chats', async () => {
  const slots = createChatSlots()
  for (let times = 0; times < 5; times++) await slots.take('team', Infinity)
  await expect(slots.take('team', 5)).rejects.toThrow(tooMany)
})

test('a limit of zero rejects everything, and the error names it', async () => {
  await expect(createChatSlots().take('team', 0)).rejects.toThrow(tooMany)
  const streams = createEventSlots()
  await streams.take('acme', 1)
  await expect(streams.take('acme', 1)).rejects.toThrow(
    'acme has 1 open event streams, and its limit event_streams is 1. Close one, or ask for a higher limit.',
  )
})
