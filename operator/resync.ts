import { conditions } from '../crds/names.ts'
import { sweepKeyedRequests } from '../db/idempotent-requests.ts'
import { releaseExpiredLeases } from '../db/jobs/requeue.ts'
import { listRegisteredBaseModels } from '../db/base-models/resources.ts'
import { listPublishingJobs, listUnfinishedJobs } from '../db/jobs/resources.ts'
import { listModelResources } from '../db/models/resources.ts'
import { expireOutbox } from '../db/webhooks/outbox.ts'
import { repeat } from '../lib/repeat.ts'
import type { Context } from './context.ts'
import { sortByAge, type Controllers } from './controllers.ts'
import { makeMissingResources } from './missing-resources.ts'

// What a lost notification or watch event delays at most.
const everyMs = 3_000

/** Looks, again and again, for work that no event tells of. Gives a function that ends it. */
export function startResync(context: Context, controllers: Controllers): () => Promise<void> {
  const stop = new AbortController()
  const onError = (error: unknown) => context.log.warn({ error }, 'resync failed')
  const running = repeat(() => resync(context, controllers), { pauseMs: everyMs, signal: stop.signal, onError })
  return async () => {
    stop.abort()
    await running
  }
}

/** One step that fails keeps none of the others from running. */
async function resync(context: Context, controllers: Controllers): Promise<void> {
  const { pool, log } = context
  const steps: Record<string, () => Promise<unknown>> = {
    sweepExpiredLeases: () => releaseExpiredLeases(pool),
    sweepKeyedRequests: () => sweepKeyedRequests(pool),
    sweepOutbox: () => expireOutbox(pool),
    makeMissingResources: () => makeMissingResources(context),
    addPublishing: () => addPublishing(context, controllers),
    addJobs: () => addJobs(context, controllers),
    addModels: () => addModels(context, controllers),
    addBaseModels: () => addBaseModels(context, controllers),
  }
  for (const [step, run] of Object.entries(steps)) {
    await run().catch((error: unknown) => log.warn({ step, error }, 'resync failed'))
  }
}

async function addPublishing({ pool }: Context, { publishing }: Controllers): Promise<void> {
  for (const id of await listPublishingJobs(pool)) publishing.addRoutinely(id)
}

/** Jobs that are not over, by their rows; and resources that have no row yet. */
async function addJobs({ pool, namespace, trainingJobs }: Context, controllers: Controllers): Promise<void> {
  for (const { crName } of await listUnfinishedJobs(pool, namespace)) controllers.trainingJobs.addRoutinely(crName)
  for (const { metadata, status } of sortByAge(trainingJobs.list())) {
    if (status?.phase === 'Pending') controllers.trainingJobs.addRoutinely(metadata.name ?? '')
  }
}

/** Models whose resource is gone, and resources that are not taken in yet. */
async function addModels({ pool, namespace, models }: Context, controllers: Controllers): Promise<void> {
  for (const name of await listModelResources(pool, namespace)) {
    if (models.get(name) === undefined) controllers.models.addRoutinely(name)
  }
  for (const { metadata, status } of sortByAge(models.list())) {
    const accepted = status?.conditions?.find(({ type }) => type === conditions.accepted)
    if (accepted?.status !== 'True') controllers.models.addRoutinely(metadata.name ?? '')
  }
}

/** All of them: there are few, and their pods may need replacing after a time. */
async function addBaseModels({ pool, namespace, baseModels }: Context, controllers: Controllers): Promise<void> {
  for (const name of await listRegisteredBaseModels(pool, namespace)) controllers.baseModels.addRoutinely(name)
  for (const { metadata } of baseModels.list()) controllers.baseModels.addRoutinely(metadata.name ?? '')
}
