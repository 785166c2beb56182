import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { eventually } from '../eventually.ts'
import { checkHistory } from './check.ts'
import { giveOrders, listReached } from './orders.ts'
import { points, type Part } from './points.ts'
import { stories } from './stories.ts'
import type { FragileWorld } from './world.ts'

const parts: readonly Part[] = ['apiserver', 'operator', 'status-server']
/** The share of queries that fail in every second round. */
const queryFaults = 0.05

interface Round {
  /** It chooses the points, together with the number of the round. */
  seed: number
  number: number
  /** How many processes of each part may die. */
  most: number
  /** The names of stories. Default: all. */
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
  const names = chosen ?? Object.keys(stories)
  await Promise.all(names.map((name) => stories[name]!(world)))
  await waitForErasures(world)
  for (const part of parts) giveOrders(world.orders, part, {})
  await checkHistory(world)
  return listReached(world.orders).slice(before)
}

/** An erasure waits until the holds of requests that died have ended. */
async function waitForErasures({ pool }: FragileWorld): Promise<void> {
  await eventually(async () => {
    const { rows } = await pool.query('SELECT id FROM training.erasures WHERE finished_at IS NULL')
    expect(rows).toEqual([])
  }, 180_000)
}

/** More than may be reached, because not every story reaches every point. */
function choosePoints(part: Part, { seed, number, most, earlier = new Map() }: Round): string[] {
  const own = points.filter((point) => point.part === part).map(({ name }) => name)
  const place = (name: string) => createHash('sha256').update(`${seed} ${number} ${name}`).digest('hex')
  const countOf = (name: string) => earlier.get(name) ?? 0
  const compare = (a: string, b: string) => countOf(a) - countOf(b) || (place(a) < place(b) ? -1 : 1)
  return own.toSorted(compare).slice(0, most * 3)
}

/** What several runs have done together: a file with a line for each round. */
export interface Total {
  seed: number
  rounds: number
  kills: number
  /** How often each point was reached. */
  reached: Map<string, number>
}

interface Line {
  seed: number
  round: number
  reached: string[]
}

export function readTotal(file: string, newSeed: number): Total {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
  const reached = new Map<string, number>()
  const names = lines.flatMap((line) => line.reached)
  for (const name of names) reached.set(name, (reached.get(name) ?? 0) + 1)
  return { seed: lines[0]?.seed ?? newSeed, rounds: lines.length, kills: names.length, reached }
}

export function addRound(file: string, line: Line): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}
