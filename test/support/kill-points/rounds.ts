import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
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
}

/** Runs stories at the same time while processes die, and checks the history. Returns the points that were reached. */
export async function runRound(world: FragileWorld, { seed, number, most, chosen }: Round): Promise<string[]> {
  const before = listReached(world.orders).length
  for (const part of parts) {
    const kills = choosePoints(part, { seed, number, most: most * 4 })
    giveOrders(world.orders, part, { kills, most, queryFaults: number % 2 === 0 ? queryFaults : 0 })
  }
  const names = chosen ?? Object.keys(stories)
  await Promise.all(names.map((name) => stories[name]!(world)))
  for (const part of parts) giveOrders(world.orders, part, {})
  await checkHistory(world)
  return listReached(world.orders).slice(before)
}

/** Each round has other points, so that all have their turn. */
function choosePoints(part: Part, { seed, number, most }: Omit<Round, 'chosen'>): string[] {
  const own = points.filter((point) => point.part === part).map(({ name }) => name)
  const place = (name: string) => createHash('sha256').update(`${seed} ${name}`).digest('hex')
  const shuffled = own.toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
  const from = (number * most) % shuffled.length
  return [...shuffled.slice(from), ...shuffled].slice(0, Math.min(most, shuffled.length))
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
