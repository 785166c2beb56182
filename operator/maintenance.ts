import { removeOldDeletionAnswers } from '../db/deletion/answers.ts'
import { expireHolds } from '../db/store/held-keys.ts'
import { repeat } from '../lib/repeat.ts'
import type { Context } from './context.ts'
import { eraseAll } from './erasure/erase.ts'
import {
  removeOldOptimizers,
  removeOldPayloads,
  removeOldStatistics,
  removeSpentProgress,
} from './retention/expired.ts'
import type { StoreGuard } from './gc/guard.ts'
import { purgeCheckpoints } from './deletion/checkpoints.ts'
import { purgeModels } from './deletion/models.ts'
import { applyRetention } from './retention/checkpoints.ts'
import { eraseLateTraces } from './erasure/traces.ts'
import { addTraceWeeks, applyTraceRetention } from './retention/traces.ts'

// Who deletes something wants its files gone soon.
const everyMs = 2_000
const rarelyMs = 3600_000
// A copy of the database that is at most so old does not notice what it lacks.
const guardMs = 300_000
// Somebody may be about to claim the store.
const unclaimedMs = 10_000

/**
 * Removes what was deleted or is kept no longer, in loops of their own: a large store holds up neither the resync nor the
 * look whose it is. Nothing leaves a store that is not ours: it waits. Gives a function that ends it.
 */
export function startUpkeep(context: Context, guard: StoreGuard): () => Promise<void> {
  const stop = new AbortController()
  const onError = (error: unknown) => context.log.warn({ error }, 'upkeep failed')
  const loop = (work: () => Promise<void>, pauseMs: number | (() => number)) =>
    repeat(work, { pauseMs, signal: stop.signal, onError })
  const look = () => runSteps(context, { checkStore: () => guard.check() })
  const sweep = () => runSteps(context, { sweepGarbage: () => guard.sweep() })
  const removing = { ...context, artifacts: guard.artifacts }
  const remove = (steps: Steps) => (guard.isOurs ? runSteps(removing, steps) : Promise.resolve())
  // It may become ours at any time.
  const unlessUnclaimed = (pauseMs: number) => () => (guard.isOurs ? pauseMs : unclaimedMs)
  const startRemoving = async () => {
    await look()
    await Promise.all([
      loop(look, unlessUnclaimed(guardMs)),
      loop(sweep, unlessUnclaimed(guardMs)),
      loop(() => remove(promptRemoval), everyMs),
      loop(() => remove(rareRemoval), unlessUnclaimed(rarelyMs)),
    ])
  }
  const running = Promise.all([
    loop(() => runSteps(context, promptWork), everyMs),
    loop(() => runSteps(context, rareWork), rarelyMs),
    startRemoving(),
  ])
  return async () => {
    stop.abort()
    await running
  }
}

type Steps = Record<string, (context: Context) => Promise<unknown>>

const promptWork: Steps = { applyRetention, sweepDeletions: ({ pool }) => removeOldDeletionAnswers(pool) }
const rareWork: Steps = { addTraceWeeks, forgetHolds }

// What removes something from the store.
const promptRemoval: Steps = {
  purgeCheckpoints,
  eraseAll: (context) => eraseAll(context),
  purgeModels,
  removeOldOptimizers,
  removeSpentProgress,
}
const rareRemoval: Steps = { removeOldPayloads, removeOldStatistics, applyTraceRetention, eraseLateTraces }

async function forgetHolds({ pool, tracing }: Context): Promise<void> {
  await expireHolds({ schema: 'training', pool })
  await expireHolds({ schema: 'tracing', pool: tracing })
}

/** One step that fails keeps none of the others from running. */
async function runSteps(context: Context, steps: Steps): Promise<void> {
  for (const [step, run] of Object.entries(steps)) {
    await run(context).catch((error: unknown) => context.log.warn({ step, error }, 'upkeep failed'))
  }
}
