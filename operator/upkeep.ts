import { setTimeout as delay } from 'node:timers/promises'
import { sweepDeletions } from '../db/queries/deletions.ts'
import type { Context } from './context.ts'
import { purgeCheckpoints } from './purge/checkpoints.ts'
import { purgeModels } from './purge/models.ts'
import { applyRetention } from './retention/apply.ts'

// Who deletes something wants its files gone soon.
const everyMs = 2_000

/**
 * Removes what was deleted or is kept no longer, in a loop of its own: large stores must not hold up the resync. Gives a
 * function that ends it.
 */
export function startUpkeep(context: Context): () => Promise<void> {
  const stop = new AbortController()
  const run = async () => {
    while (!stop.signal.aborted) {
      await keepUp(context)
      await delay(everyMs, undefined, { signal: stop.signal }).catch(() => {})
    }
  }
  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}

/** One step that fails keeps none of the others from running. */
async function keepUp(context: Context): Promise<void> {
  const steps: Record<string, () => Promise<unknown>> = {
    applyRetention: () => applyRetention(context),
    purgeCheckpoints: () => purgeCheckpoints(context),
    purgeModels: () => purgeModels(context),
    sweepDeletions: () => sweepDeletions(context.pool),
  }
  for (const [step, run] of Object.entries(steps)) {
    await run().catch((error: unknown) => context.log.warn({ step, error }, 'upkeep failed'))
  }
}
