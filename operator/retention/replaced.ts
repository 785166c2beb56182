import { whileUnheld } from '../../db/store/held-keys.ts'
import {
  markReplacedCollected,
  isPayloadUsed,
  listReplacedPayloads,
  postponeReplaced,
  type ReplacedPayload,
} from '../../db/gc/replaced-payloads.ts'
import type { Context } from '../context.ts'

type Deps = Pick<Context, 'tracing' | 'artifacts'>

/**
 * Removes some objects that newer payloads have replaced for a while, or whose calls are gone; answers how many were looked
 * at. What is used again stays, and so does what somebody writes again just now.
 */
export async function removeReplaced(deps: Deps, which: { seconds: number; limit: number }): Promise<number> {
  const replaced = await listReplacedPayloads(deps.tracing, which)
  for (const payload of replaced) await removeOne(deps, payload)
  return replaced.length
}

async function removeOne({ tracing, artifacts }: Deps, payload: ReplacedPayload): Promise<void> {
  const isDone = await whileUnheld({ pool: tracing, schema: 'tracing' }, payload.key, async (connection) => {
    if (!(await isPayloadUsed(connection, payload))) await artifacts.remove(payload.key)
    await markReplacedCollected(connection, payload)
    return true
  })
  if (!isDone) await postponeReplaced(tracing, payload)
}
