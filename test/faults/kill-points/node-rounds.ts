import { nodeStories } from './node-stories.ts'
import type { FragileNode } from './node-world.ts'
import { giveOrders, listReached } from './orders.ts'
import { choosePoints, type Round } from './rounds.ts'

// Fewer pods than a node may have.
const repetitions = 4

/** Runs pods at the same time while their agent dies. Each pod checks itself. Returns the points that were reached. */
export async function runNodeRound(node: FragileNode, round: Omit<Round, 'chosen'>): Promise<string[]> {
  const before = listReached(node.orders).length
  giveOrders(node.orders, 'node-agent', { kills: choosePoints('node-agent', round), most: round.most })
  const runs = Array.from({ length: repetitions }, () => Object.values(nodeStories)).flat()
  await Promise.all(runs.map((run) => run(node)))
  giveOrders(node.orders, 'node-agent', {})
  return listReached(node.orders).slice(before)
}
