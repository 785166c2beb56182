import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { runNodeRound } from './kill-points/node-rounds.ts'
import { openFragileNode } from './kill-points/node-world.ts'
import { nodeStories } from './kill-points/node-stories.ts'
import { giveOrders, listReached } from './kill-points/orders.ts'
import { points, trainerPoints } from './kill-points/points.ts'
import { runRound } from './kill-points/rounds.ts'
import { addRound, describeTotal, readTotal } from './kill-points/total.ts'
import { openFragileWorld } from './kill-points/world.ts'
import { ensureSeed } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const { TRAINYARD_TEST_KILLS: wantedKills, TRAINYARD_TEST_KILLS_FILE: file } = process.env
const survival = path.join(import.meta.dirname, '../../trainer/trainyard_trainer/survival_test.py')

test('the points have different names, and those of the trainer are in its test', () => {
  expect(points.length).toBeGreaterThanOrEqual(60)
  expect(new Set(points.map(({ name }) => name)).size).toBe(points.length)
  const text = readFileSync(survival, 'utf8')
  expect(trainerPoints.filter((name) => !text.includes(`"${name}": `))).toEqual([])
})

test.runIf(file === undefined)(
  'processes that die at some of the points, while queries fail, lose nothing and repeat nothing',
  async () => {
    const world = await openFragileWorld(stack)
    const node = await openFragileNode(stack)
    const round = { seed: ensureSeed(), number: 0 }
    const reached = await Promise.all([
      runRound(world, { ...round, most: 2, chosen: ['trainTwice', 'deleteCheckpointAndModel'] }),
      // Later ones find processes of pods.
      runNodeRound(node, { ...round, most: 10 }),
    ])
    console.log(`killed: ${reached.flat().join('; ')}`)
    for (const each of reached) expect(each).not.toEqual([])
  },
)

test.runIf(file === undefined)('an agent that dies while it removes a pod leaves nothing of it', async () => {
  const node = await openFragileNode(stack)
  const kills = ['node-agent: after pod folder removed', 'node-agent: before pod folder removed']
  for (const kill of kills) {
    giveOrders(node.orders, 'node-agent', { kills: [kill], most: 1 })
    await nodeStories.runOnce(node)
  }
  expect(listReached(node.orders)).toEqual(kills)
})

test.runIf(file !== undefined)(
  'processes that die at all of the points lose nothing and repeat nothing',
  async () => {
    const world = await openFragileWorld(stack)
    const node = await openFragileNode(stack)
    for (let total = readTotal(file!, ensureSeed()); total.kills < Number(wantedKills);) {
      const { seed, rounds: number, reached: earlier } = total
      const round = { seed, number, earlier }
      const reached = await Promise.all([
        runRound(world, { ...round, most: 20 }),
        runNodeRound(node, { ...round, most: 20 }),
      ])
      addRound(file!, { seed, round: number, reached: reached.flat() })
      total = readTotal(file!, seed)
      console.log(
        `round ${number}: ${reached.flat().length} kills, ${total.kills} in all, at ${total.reached.size} points`,
      )
    }
    console.log(describeTotal(readTotal(file!, ensureSeed())))
  },
  24 * 3600_000,
)
