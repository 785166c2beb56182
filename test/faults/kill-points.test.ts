import { expect, test } from 'vitest'
import { points } from '../support/kill-points/points.ts'
import { addRound, readTotal, runRound } from '../support/kill-points/rounds.ts'
import { openFragileWorld } from '../support/kill-points/world.ts'
import { ensureSeed } from '../support/random-cases.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const { TRAINYARD_TEST_KILLS: wantedKills, TRAINYARD_TEST_KILLS_FILE: file } = process.env

test('the points have different names', () => {
  expect(points.length).toBeGreaterThanOrEqual(60)
  expect(new Set(points.map(({ name }) => name)).size).toBe(points.length)
})

test.runIf(file === undefined)(
  'processes that die at some of the points, while queries fail, lose nothing and repeat nothing',
  async () => {
    const world = await openFragileWorld(stack)
    const round = { seed: ensureSeed(), number: 0, most: 2, chosen: ['trainTwice', 'deleteCheckpointAndModel'] }
    const reached = await runRound(world, round)
    console.log(`killed: ${reached.join('; ')}`)
    expect(reached).not.toEqual([])
  },
)

test.runIf(file !== undefined)(
  'processes that die at all of the points lose nothing and repeat nothing',
  async () => {
    const world = await openFragileWorld(stack)
    for (let total = readTotal(file!, ensureSeed()); total.kills < Number(wantedKills);) {
      const { seed, rounds: number, reached: earlier } = total
      const reached = await runRound(world, { seed, number, most: 8, earlier })
      addRound(file!, { seed, round: number, reached })
      total = readTotal(file!, seed)
      console.log(`round ${number}: ${reached.length} kills, ${total.kills} in all, at ${total.reached.size} points`)
    }
    const { reached } = readTotal(file!, ensureSeed())
    const never = points.map(({ name }) => name).filter((name) => !reached.has(name))
    console.log(`${reached.size} of ${points.length} points reached; never: ${never.join('; ') || 'none'}`)
  },
  24 * 3600_000,
)
