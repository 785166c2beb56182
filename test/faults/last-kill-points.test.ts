import { expect, test } from 'vitest'
import { checkHistory } from './kill-points/check.ts'
import { nodeStories } from './kill-points/node-stories.ts'
import { openFragileNode } from './kill-points/node-world.ts'
import { giveOrders, listReached } from './kill-points/orders.ts'
import { waitForErasures } from './kill-points/rounds.ts'
import { stories } from './kill-points/stories.ts'
import { openFragileWorld } from './kill-points/world.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const bothOf = (part: string, effects: string[]) =>
  effects.flatMap((effect) => ['before', 'after'].map((when) => `${part}: ${when} ${effect}`))

test('an erasure ends, and leaves nothing, whose operator dies before and after each of its last steps', async () => {
  const world = await openFragileWorld(stack)
  const kills = bothOf('operator', ['jobs erased', 'models erased', 'erasure finished'])
  giveOrders(world.orders, 'operator', { kills, most: kills.length })
  await stories['eraseProject']!(world)
  await waitForErasures(world)
  expect(listReached(world.orders)).toEqual(kills)
  await checkHistory(world)
})

test('a pod ends once, and leaves nothing, whose agent dies before and after what it does to end it', async () => {
  const node = await openFragileNode(stack)
  const kills = bothOf('node-agent', ['event', 'process signalled', 'pod resource deleted'])
  for (const kill of kills) {
    giveOrders(node.orders, 'node-agent', { kills: [kill], most: 1 })
    await nodeStories.deleteRunning(node)
  }
  expect(listReached(node.orders)).toEqual(kills)
})
