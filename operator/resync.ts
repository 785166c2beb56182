import { isTerminal } from '../crds/job-states.ts'
import { conditions, labels } from '../crds/names.ts'
import { decideLostAttempts, listLostPods } from '../db/jobs/lost-attempts.ts'
import { listRegisteredBaseModels } from '../db/base-models/resources.ts'
import { listKnownPods } from '../db/engines/loaded-adapters.ts'
import { listPublishingJobs, listUnfinishedJobs } from '../db/jobs/resources.ts'
import { listModelResources } from '../db/models/resources.ts'
import { repeat } from '../lib/repeat.ts'
import type { TrainingJob } from '../crds/generated.ts'
import { keyOf, uidOf } from '../lib/kube/objects.ts'
import type { ObjectCache } from '../lib/kube/reflector.ts'
import { sortByAge } from './changed-objects.ts'
import type { Controllers } from './controllers.ts'
import { keyOfRow } from './resource-keys.ts'
import type { ModelDeps } from './model/reconcile.ts'
import { createMissingResources } from './missing-resources.ts'
import { explainLostTrainer } from './training-job/lost-trainer.ts'

/** What the resync needs. */
export interface ResyncDeps extends Omit<ModelDeps, 'events'> {
  trainingJobs: ObjectCache<TrainingJob>
}

// A lost notification or watch event delays its work by at most this time.
const intervalMs = 3_000
// Of many jobs, a round looks at the oldest, and at a part of the others, so that each has its turn within a minute.
const lookRounds = 18
const alwaysLookedAt = 50
// These steps read as much as there are models. The watch notices deletions, also after it was interrupted.
const rarelyMs = 30_000

/** Repeatedly looks for work whose event was lost. Returns a function that ends the repetition. */
export function startResync(deps: ResyncDeps, controllers: Controllers): () => Promise<void> {
  const stop = new AbortController()
  const onError = (error: unknown) => deps.log.warn({ error }, 'resync failed')
  const { signal } = stop
  let round = 0
  const running = Promise.all([
    repeat(() => resync(deps, controllers, { signal, round: round++ }), { pauseMs: intervalMs, signal, onError }),
    repeat(() => addRarely(deps, controllers), { pauseMs: rarelyMs, signal, onError }),
  ])
  return async () => {
    stop.abort()
    await running
  }
}

/** A step that fails does not stop the others. */
async function resync(
  deps: ResyncDeps,
  controllers: Controllers,
  { signal, round }: { signal: AbortSignal; round: number },
): Promise<void> {
  const { log } = deps
  const steps: Record<string, () => Promise<unknown>> = {
    decideLosses: () => decideLosses(deps),
    createMissingResources: () => createMissingResources(deps),
    addPublishing: () => addPublishing(deps, controllers),
    addJobs: () => addJobs(deps, controllers, round),
    addModels: () => addModels(deps, controllers),
    addBaseModels: () => addBaseModels(deps, controllers),
  }
  for (const [step, run] of Object.entries(steps)) {
    if (signal.aborted) return
    await run().catch((error: unknown) => log.warn({ step, error }, 'resync failed'))
  }
}

/** Decides whether attempts with lost trainers count as tries. */
async function decideLosses({ pool, pods, log }: ResyncDeps): Promise<void> {
  for (const { uid, lostSeconds } of await listLostPods(pool)) {
    const pod = pods.list().find((each) => uidOf(each) === uid)
    const verdict = explainLostTrainer(pod, lostSeconds, new Date())
    if (!verdict) continue
    await decideLostAttempts(pool, uid, verdict)
    log.info({ pod: pod?.metadata.name, uid, ...verdict }, 'a trainer was lost')
  }
}

async function addPublishing({ pool }: ResyncDeps, { publishing }: Controllers): Promise<void> {
  for (const id of await listPublishingJobs(pool)) publishing.addRoutinely(id)
}

/** Adds the jobs with unfinished rows and the unfinished resources, which may have no row, each once in a while. */
async function addJobs(deps: ResyncDeps, controllers: Controllers, round: number): Promise<void> {
  const { pool, tenants, trainingJobs } = deps
  const unfinished = await listUnfinishedJobs(pool, tenants.namespaces)
  const isUnfinished = ({ status }: TrainingJob) => !isTerminal(status?.phase ?? 'Pending')
  const resources = sortByAge(trainingJobs.list().filter(isUnfinished))
  const keys = new Set([...unfinished.map(keyOfRow), ...resources.map(keyOf)])
  for (const key of pickInTurn([...keys], round)) controllers.trainingJobs.addRoutinely(key)
}

/** The first keys, and in each round another part of the others. */
function pickInTurn(keys: string[], round: number): string[] {
  const isTurn = (key: string) => sum(Buffer.from(key)) % lookRounds === round % lookRounds
  return keys.filter((key, index) => index < alwaysLookedAt || isTurn(key))
}

function sum(numbers: Uint8Array): number {
  return numbers.reduce((total, number) => total + number, 0)
}

async function addRarely(deps: ResyncDeps, controllers: Controllers): Promise<void> {
  await addDriftedModels(deps, controllers)
  await addKnownEngines(deps, controllers)
  addKeptModels(deps, controllers)
}

/** Adds the engine pods of which something is known: they may be gone. */
async function addKnownEngines({ pool }: ResyncDeps, { engines }: Controllers): Promise<void> {
  for (const podName of await listKnownPods(pool)) engines.addRoutinely(podName)
}

/** Adds the models that are to stay loaded: others may have taken their places. */
function addKeptModels({ models }: ResyncDeps, controllers: Controllers): void {
  for (const model of models.list()) {
    if (model.spec.keepLoaded) controllers.models.addRoutinely(keyOf(model))
  }
}

/** Adds the models whose resource or whose row is gone. */
async function addDriftedModels({ pool, tenants, models }: ResyncDeps, controllers: Controllers): Promise<void> {
  const ofRows = new Set((await listModelResources(pool, tenants.namespaces)).map(keyOfRow))
  for (const key of ofRows) if (models.get(key) === undefined) controllers.models.addRoutinely(key)
  for (const key of models.list().map(keyOf)) if (!ofRows.has(key)) controllers.models.addRoutinely(key)
}

/** Adds the models that are not accepted yet. */
async function addModels({ models }: ResyncDeps, controllers: Controllers): Promise<void> {
  for (const model of sortByAge(models.list())) {
    const accepted = model.status?.conditions?.find(({ type }) => type === conditions.accepted)
    if (accepted?.status !== 'True') controllers.models.addRoutinely(keyOf(model))
  }
}

/** Adds all base models, also those of which only pods are left: there are few, and their pods may need a replacement. */
async function addBaseModels(deps: ResyncDeps, controllers: Controllers): Promise<void> {
  const { pool, namespace, baseModels, pods } = deps
  const ofPods = pods.list().map(({ metadata }) => metadata.labels?.[labels.baseModel] ?? '')
  const present = baseModels.list().map(({ metadata }) => metadata.name ?? '')
  const names = new Set([...(await listRegisteredBaseModels(pool, namespace)), ...present, ...ofPods])
  for (const name of names) controllers.baseModels.addRoutinely(name)
}
