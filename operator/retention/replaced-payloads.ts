import { whileUnheld } from '../../db/store/held-keys.ts'
import {
  markReplacedRemoved,
  isPayloadUsed,
  listReplacedPayloads,
  postponeReplaced,
  type ReplacedPayload,
} from '../../db/retention/replaced-payloads.ts'
import type { ArtifactStore } from '../../artifacts/store/store.ts'
import type { Pool } from '../../db/pool.ts'

interface Deps {
  tracing: Pool
  artifacts: ArtifactStore
}

/**
 * Removes objects that were replaced `seconds` ago, or whose calls were removed. Returns how many objects it checked.
 * Keeps objects that are used again, or that a request is writing now.
 */
export async function expireReplacedPayloads(deps: Deps, which: { seconds: number; limit: number }): Promise<number> {
  const replaced = await listReplacedPayloads(deps.tracing, which)
  for (const payload of replaced) await expireOne(deps, payload)
  return replaced.length
}

async function expireOne({ tracing, artifacts }: Deps, payload: ReplacedPayload): Promise<void> {
  const isDone = await whileUnheld({ pool: tracing, schema: 'tracing' }, payload.key, async (connection) => {
    if (!(await isPayloadUsed(connection, payload))) await artifacts.remove(payload.key)
    await markReplacedRemoved(connection, payload)
    return true
  })
  if (!isDone) await postponeReplaced(tracing, payload)
}
