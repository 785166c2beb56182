import { setTimeout as delay } from 'node:timers/promises'
import { sweepDeletions } from '../db/queries/deletions.ts'
import type { Context } from './context.ts'
import { eraseAll } from './erasure/erase.ts'
import { removeOldOptimizers, removeOldPayloads, removeOldStatistics, removeSpentProgress } from './garbage/expired.ts'
import { sweepGarbage } from './garbage/sweep.ts'
import { purgeCheckpoints } from './purge/checkpoints.ts'
import { purgeModels } from './purge/models.ts'
import { applyRetention } from './retention/apply.ts'
import { eraseLateTraces } from './tracing/erase.ts'
import { addTraceWeeks, applyTraceRetention } from './tracing/retention.ts'

// Who deletes something wants its files gone soon.
const everyMs = 2_000
// Listing a store takes long, and nobody waits for what it finds.
const rarelyMs = 3600_000

/**
 * Removes what was deleted or is kept no longer, in loops of their own: large stores must not hold up the resync. Gives a
 * function that ends it.
 */
export function startUpkeep(context: Context): () => Promise<void> {
  const stop = new AbortController()
  const repeat = async (steps: Steps, pauseMs: number) => {
    while (!stop.signal.aborted) {
      await runSteps(context, steps)
      await delay(pauseMs, undefined, { signal: stop.signal }).catch(() => {})
    }
  }
  const running = Promise.all([repeat(promptSteps, everyMs), repeat(rareSteps, rarelyMs)])
  return async () => {
    stop.abort()
    await running
  }
}

type Steps = Record<string, (context: Context) => Promise<unknown>>

const promptSteps: Steps = {
  applyRetention,
  purgeCheckpoints,
  eraseAll: (context) => eraseAll(context),
  purgeModels,
  removeOldOptimizers,
  removeSpentProgress,
  sweepDeletions: ({ pool }) => sweepDeletions(pool),
}

const rareSteps: Steps = {
  removeOldPayloads,
  removeOldStatistics,
  addTraceWeeks,
  applyTraceRetention,
  eraseLateTraces,
  sweepGarbage: (context) => sweepGarbage(context),
}

/** One step that fails keeps none of the others from running. */
async function runSteps(context: Context, steps: Steps): Promise<void> {
  for (const [step, run] of Object.entries(steps)) {
    await run(context).catch((error: unknown) => context.log.warn({ step, error }, 'upkeep failed'))
  }
}
