import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { checkHistory } from './check.ts'
import { giveOrders, listReached } from './orders.ts'
import { watchedPoints, type WatchedPart } from './points.ts'
import { stories } from './stories.ts'
import type { FragileWorld } from './world.ts'

const parts: readonly WatchedPart[] = ['apiserver', 'operator', 'status-server']
// Most of a round is waiting: for processes that start again, and for erasures. More kills fit into that time.
const repetitions = 3
/** The share of queries that fail in every second round. */
const queryFaults = 0.05

export interface Round {
  /** It chooses the points, together with the number of the round. */
  seed: number
  number: number
  /** How often the processes of each part may die. */
  most: number
  /** The names of stories. Default: all, three times. */
  chosen?: readonly string[]
  /** How often each point was reached before. Those that were reached least have their turn. */
  earlier?: ReadonlyMap<string, number>
}

/** Runs stories at the same time while processes die, and checks the history. Returns the points that were reached. */
export async function runRound(world: FragileWorld, round: Round): Promise<string[]> {
  const { number, most, chosen } = round
  const before = listReached(world.orders).length
  for (const part of parts) {
    const kills = choosePoints(part, round)
    giveOrders(world.orders, part, { kills, most, queryFaults: number % 2 === 0 ? queryFaults : 0 })
  }
  const names = chosen ?? Array.from({ length: repetitions }, () => Object.keys(stories)).flat()
  await Promise.all(names.map((name) => stories[name]!(world)))
  await waitForErasures(world)
  for (const part of parts) giveOrders(world.orders, part, {})
  await checkHistory(world)
  return listReached(world.orders).slice(before)
}

/** An erasure waits until the holds of requests that died have ended. */
export async function waitForErasures({ pool }: Pick<FragileWorld, 'pool'>): Promise<void> {
  await eventually(async () => {
    const { rows } = await pool.query('SELECT id FROM training.erasures WHERE finished_at IS NULL')
    expect(rows).toEqual([])
  }, 180_000)
}

/**
 * Those that were reached least. In two of three rounds there are some more than processes may die at, because not every round
 * reaches every point; but not many, because the kills would all be at those that a story reaches first. In the third one,
 * processes die at those too that a story reaches last, such as the end of an erasure.
 */
export function choosePoints(part: WatchedPart, { seed, number, most, earlier = new Map() }: Round): string[] {
  const own = watchedPoints.filter((point) => point.part === part).map(({ name }) => name)
  const rank = (name: string) => createHash('sha256').update(`${seed} ${number} ${name}`).digest('hex')
  const countOf = (name: string) => earlier.get(name) ?? 0
  const compare = (a: string, b: string) => countOf(a) - countOf(b) || (rank(a) < rank(b) ? -1 : 1)
  return own.toSorted(compare).slice(0, number % 3 === 2 ? most : Math.ceil(most * 1.3))
}
