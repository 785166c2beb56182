import { expireDownloads } from '../db/base-models/downloads.ts'
import { removeOldDeletionAnswers } from '../db/deletion/answers.ts'
import { expireAdapterUses } from '../db/engines/adapter-uses.ts'
import { expireKeyedRequests } from '../db/idempotent-requests.ts'
import { expireResponses } from '../db/responses/retention.ts'
import { expireRuns } from '../db/runs/expire.ts'
import { removeDeletedRuns } from '../db/runs/remove.ts'
import { expireHolds } from '../db/store/held-keys.ts'
import { expireOutbox } from '../db/webhooks/outbox.ts'
import { resealSecrets } from '../db/webhooks/sealing.ts'
import { repeat } from '../lib/repeat.ts'
import type { SealingKeys } from '../lib/sealing/sealing-keys.ts'
import { removeDeletedCheckpoints } from './deletion/checkpoints.ts'
import { removeDeletedModels } from './deletion/models.ts'
import { eraseAll, type ErasureDeps } from './erasure/erase.ts'
import { eraseTracesAgain } from './erasure/traces.ts'
import type { StoreGuard } from './gc/guard.ts'
import { applyCheckpointRetention } from './retention/checkpoints.ts'
import {
  expireOptimizerStates,
  expirePayloads,
  expirePendingArtifacts,
  expireProgress,
  expireTokenStatistics,
} from './retention/files.ts'
import { applyTraceRetention, createTracePartitions } from './retention/traces.ts'

// Clients expect the files of deleted data to be gone soon.
const frequentMs = 2_000
const hourlyMs = 3600_000
// A database of traces that is still being created, or a store that does not answer, is there soon.
const defaultRetryMs = 30_000
// Until this check detects a copied database, the copy may remove what the original needs.
const storeCheckMs = 300_000
// An admin may claim the store at any time.
const unclaimedMs = 10_000

/** What deletion, erasure, retention and garbage collection need. */
export interface MaintenanceDeps extends ErasureDeps {
  /** How many days calls are kept if their project sets nothing; null: forever. */
  traceDays: number | null
  /** The keys with which the secrets of webhooks are encrypted. */
  sealingKeys: SealingKeys
}

type Step = (deps: MaintenanceDeps) => Promise<unknown>

/** Steps on the databases alone. They run whoever owns the store. docs/maintenance.md describes each step. */
export const databaseSteps = {
  frequent: {
    applyCheckpointRetention,
    removeOldDeletionAnswers: ({ pool }) => removeOldDeletionAnswers(pool),
    removeDeletedRuns: ({ pool }) => removeDeletedRuns(pool),
    expireIdempotencyKeys: ({ pool }) => expireKeyedRequests(pool),
    expireOutboxRows: ({ pool }) => expireOutbox(pool),
  },
  hourly: {
    createTracePartitions,
    expireKeyHolds,
    expireResponses: ({ pool }) => expireResponses(pool),
    expireAdapterUses: ({ pool }) => expireAdapterUses(pool),
    expireDownloads: ({ pool }) => expireDownloads(pool),
    expireRuns: ({ pool }) => expireRuns(pool),
    resealWebhookSecrets,
  },
} satisfies Record<string, Record<string, Step>>

/** Steps that remove objects from the store. They wait while the store is not ours. */
export const storeSteps = {
  frequent: {
    removeDeletedCheckpoints,
    eraseAll: (deps) => eraseAll(deps),
    removeDeletedModels,
    expireOptimizerStates,
    expireProgress,
  },
  hourly: { expirePayloads, expireTokenStatistics, expirePendingArtifacts, applyTraceRetention, eraseTracesAgain },
} satisfies Record<string, Record<string, Step>>

/**
 * Removes what was deleted, erased or expired, and garbage. Each group of steps has its own loop, so that a large store
 * delays neither the other groups nor the check of its owner. Returns a function that ends the loops.
 */
export function startMaintenance(deps: MaintenanceDeps, guard: StoreGuard): () => Promise<void> {
  const stop = new AbortController()
  const onError = (error: unknown) => deps.log.warn({ error }, 'maintenance failed')
  const { signal } = stop
  const loop = (work: Work, pause: Pause) => repeatSteps(work, pause, { signal, onError })
  const checkStore = () => runSteps(deps, { checkStore: () => guard.check() }, signal)
  const sweepGarbage = () => runSteps(deps, { sweepGarbage: () => guard.sweep() }, signal)
  const guarded = { ...deps, artifacts: guard.artifacts }
  const remove = async (steps: Record<string, Step>) => !guard.isOurs || (await runSteps(guarded, steps, signal))
  // The store may become ours at any time.
  const unlessUnclaimed = (pauseMs: number) => () => (guard.isOurs ? pauseMs : unclaimedMs)
  const startRemoving = async () => {
    await checkStore()
    await Promise.all([
      loop(checkStore, unlessUnclaimed(storeCheckMs)),
      loop(sweepGarbage, unlessUnclaimed(storeCheckMs)),
      loop(() => remove(storeSteps.frequent), frequentMs),
      loop(() => remove(storeSteps.hourly), unlessUnclaimed(hourlyMs)),
    ])
  }
  const running = Promise.all([
    loop(() => runSteps(deps, databaseSteps.frequent, signal), frequentMs),
    loop(() => runSteps(deps, databaseSteps.hourly, signal), hourlyMs),
    startRemoving(),
  ])
  return async () => {
    stop.abort()
    guard.stop()
    await running
  }
}

async function expireKeyHolds({ pool, tracing }: Pick<MaintenanceDeps, 'pool' | 'tracing'>): Promise<void> {
  await expireHolds({ schema: 'training', pool })
  await expireHolds({ schema: 'tracing', pool: tracing })
}

async function resealWebhookSecrets({ pool, sealingKeys, log }: MaintenanceDeps): Promise<void> {
  const errors = await resealSecrets(pool, sealingKeys)
  for (const { message } of errors) log.warn({ reason: message }, 'a secret of a webhook cannot be decrypted')
}

/** Runs steps, and returns whether all have succeeded. */
type Work = () => Promise<boolean>
type Pause = number | (() => number)
interface RepeatOptions {
  signal: AbortSignal
  onError: (error: unknown) => void
  retryMs?: number
}

/** Repeats work after a pause. After a failure, the pause is short. */
export function repeatSteps(
  work: Work,
  pause: Pause,
  { signal, onError, retryMs = defaultRetryMs }: RepeatOptions,
): Promise<void> {
  let succeeded = true
  const run = async () => (succeeded = await work())
  const pauseMs = () => {
    const regularMs = typeof pause === 'number' ? pause : pause()
    return succeeded ? regularMs : Math.min(regularMs, retryMs)
  }
  return repeat(run, { pauseMs, signal, onError })
}

/** A step that fails does not stop the others. After the end of maintenance no step begins. */
async function runSteps(deps: MaintenanceDeps, steps: Record<string, Step>, signal: AbortSignal): Promise<boolean> {
  let succeeded = true
  for (const [step, run] of Object.entries(steps)) {
    if (signal.aborted) break
    await run(deps).catch((error: unknown) => {
      succeeded = false
      deps.log.warn({ step, error }, 'maintenance failed')
    })
  }
  return succeeded
}
