import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { newKey } from './kill-points/client.ts'
import { giveOrders, listReached } from './kill-points/orders.ts'
import { stories } from './kill-points/stories.ts'
import { openFragileWorld } from './kill-points/world.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
// Late writes of erased data are awaited for 30 s, and the hold of a dead request lasts a minute.
const goalMs = 100_000

test('an entity is erased soon after the kill -9 of a request that held a key of the store', async () => {
  const world = await openFragileWorld(stack)
  const point = 'apiserver: after payload key held'
  giveOrders(world.orders, 'apiserver', { kills: [point], most: 1 })
  await stories['trainTwice']!(world)
  expect(listReached(world.orders)).toEqual([point])
  const { rows } = await world.pool.query('SELECT key FROM training.held_keys')
  expect(rows).toHaveLength(1)
  const { id } = (await world.ask('DELETE', '/v1/preview/projects/tests', { idempotencyKey: newKey() })).body
  const asked = performance.now()
  await eventually(async () => {
    const { state } = (await world.ask('GET', `/v1/preview/erasures/${String(id)}`)).body
    expect(state).toBe('done')
  }, goalMs)
  console.log(`erased after ${Math.round((performance.now() - asked) / 1000)} s`)
})
