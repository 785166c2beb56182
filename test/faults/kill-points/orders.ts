import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { WatchedPart } from './points.ts'

/** What the processes of a part are to do, until they have other orders. */
export interface Orders {
  /** The points at which a process kills itself, once each. */
  kills: string[]
  /** How many of them, those that are reached first. */
  most: number
  /** The share of queries that fail, half of them after Postgres has executed them. */
  queryFaults: number
}

/** The variable with the folder of the orders. */
export const folderVariable = 'TRAINYARD_TEST_KILL_POINTS'

const nothing: Orders = { kills: [], most: 0, queryFaults: 0 }
const ordersOf = (folder: string, part: WatchedPart) => path.join(folder, `${part}.json`)
const reachedOf = (folder: string) => path.join(folder, 'reached')

/** Gives orders to the running process of a part, and to those that come after it. */
export function giveOrders(folder: string, part: WatchedPart, orders: Partial<Orders>): void {
  const file = ordersOf(folder, part)
  writeFileSync(`${file}.new`, JSON.stringify({ ...nothing, ...orders }))
  renameSync(`${file}.new`, file)
}

/** Reads the orders of a part. A process does so at each of its effects. */
export function readOrders(folder: string, part: WatchedPart): Orders {
  const file = ordersOf(folder, part)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Orders) : nothing
}

/** Takes a point out of the orders, and writes down that it was reached. */
export function markReached(folder: string, part: WatchedPart, name: string): void {
  const { kills, most, queryFaults } = readOrders(folder, part)
  giveOrders(folder, part, { kills: kills.filter((each) => each !== name), most: most - 1, queryFaults })
  appendFileSync(reachedOf(folder), `${name}\n`)
}

/** The points at which processes have killed themselves, in order. */
export function listReached(folder: string): string[] {
  return existsSync(reachedOf(folder)) ? readFileSync(reachedOf(folder), 'utf8').split('\n').slice(0, -1) : []
}
