import type { BaseModel } from '../../crds/generated.ts'
import { readMaxLoraRank } from '../../crds/max-lora-rank.ts'
import { annotations } from '../../crds/names.ts'
import { describeTrainedOn } from '../../crds/trained-on.ts'
import { listBusyPods, markDraining } from '../../db/jobs/busy-trainers.ts'
import { findDownloads } from '../../db/base-models/downloads.ts'
import { registerBaseModel, unregisterBaseModel } from '../../db/base-models/resources.ts'
import { recordTrainerTrouble } from '../../db/base-models/trainer-trouble.ts'
import { findUntrainedLayers } from '../../db/base-models/untrained-layers.ts'
import type { Pool } from '../../db/pool.ts'
import { createObject, deleteObject, patchStatus, readObject } from '../../lib/kube/apply.ts'
import { recordEvents } from '../../lib/kube/events.ts'
import type { Requeue } from '../../lib/kube/queue.ts'
import { KubeError } from '../../lib/kube/error.ts'
import { customPath } from '../../crds/paths.ts'
import { isReady, uidOf, type Pod } from '../../lib/kube/objects.ts'
import { podPath } from '../../lib/kube/paths.ts'
import { listPods } from '../component-pods.ts'
import { findTrainerComponent, isColocated } from './colocation.ts'
import { decideEngines, decideTrainers, forgetDemand } from './demand.ts'
import { applyEngineAccess, type EngineAccessDeps } from './engine/access.ts'
import { engineName } from './engine/deployment.ts'
import { deployEngines, type DeployedEngines, type EngineDeps } from './engine/engines.ts'
import { planTrainers, unwanted, type TrainerAction } from './trainer/plan.ts'
import { describeConflict } from './conflict.ts'
import { diffPodSecurity } from './pod/security.ts'
import { engineHash } from './engine/pod.ts'
import { buildTrainerPod, trainerHash } from './trainer/pod.ts'
import type { Scales } from './engine/scales.ts'
import { findTrainerTrouble } from './trainer/trouble.ts'
import { describeBaseModel, describeRejected, type BaseModelStatus } from './status.ts'

/** What the reconciliation of base models needs. */
export interface BaseModelDeps extends EngineDeps, EngineAccessDeps {
  pool: Pool
  scales: Scales
}

/** How many engines and trainers a base model has, and what engines. */
interface Wanted {
  engines: number
  deployed: DeployedEngines
  trainers: number
}

/**
 * Reconciles a BaseModel: registers it for the apiserver, deploys its engines and runs its trainers. When the resource
 * is gone, Kubernetes deletes its pods.
 */
export async function reconcileBaseModel(deps: BaseModelDeps, name: string): Promise<Requeue | void> {
  const baseModel = deps.baseModels.get(name)
  // It may wait for finalizers. Nobody can take its deletion back.
  if (!baseModel || baseModel.metadata.deletionTimestamp !== undefined) return unregister(deps, name)
  const conflict = await register(deps, baseModel)
  if (conflict !== undefined) {
    return writeStatus(deps, baseModel, describeRejected(baseModel, describeConflict(conflict), new Date()))
  }
  const wanted = await decideWanted(deps, baseModel)
  const outcome = await reconcileChildren(deps, baseModel, wanted)
  await recordTrouble(deps, baseModel)
  const failure = outcome instanceof Error ? outcome : undefined
  await writeStatus(deps, baseModel, await measureBaseModel(deps, baseModel, { wanted, failure }))
  if (outcome instanceof Error) throw outcome
  return outcome
}

async function decideWanted(deps: BaseModelDeps, baseModel: BaseModel): Promise<Wanted> {
  const { name = '' } = baseModel.metadata
  const current = deps.deployments.get(engineName(baseModel))?.spec?.replicas ?? 0
  const trainers = { pods: listPods(deps.pods, name, 'trainer'), busyPods: await listBusyPods(deps.pool) }
  return {
    engines: await decideEngines(deps, baseModel, current),
    deployed: { hash: engineHash(baseModel, deps.podSettings) },
    trainers: await decideTrainers(deps, baseModel, trainers),
  }
}

/** Returns an error, so that the status shows it before the work is repeated. Engines and trainers fail independently. */
async function reconcileChildren(
  deps: BaseModelDeps,
  baseModel: BaseModel,
  wanted: Wanted,
): Promise<Requeue | Error | undefined> {
  const toError = (cause: unknown) => new Error('making the pods of a base model', { cause })
  const failure = await reconcileEngines(deps, baseModel, wanted).catch(toError)
  const outcome = await reconcileTrainers(deps, baseModel, wanted.trainers).catch(toError)
  return failure ?? outcome
}

async function reconcileEngines(deps: BaseModelDeps, baseModel: BaseModel, wanted: Wanted): Promise<undefined> {
  wanted.deployed = await deployEngines(deps, baseModel, wanted.engines)
  await applyEngineAccess(deps, baseModel, wanted.engines)
}

function register({ pool, namespace }: BaseModelDeps, { metadata, spec }: BaseModel) {
  return registerBaseModel(pool, {
    namespace,
    crName: metadata.name ?? '',
    names: spec.names,
    isDefault: spec.default === true,
    createdAt: new Date(metadata.creationTimestamp ?? Date.now()),
    trainedOn: describeTrainedOn(spec),
    maxLoraRank: readMaxLoraRank(spec),
    defaultMode: spec.trainer?.defaultMode ?? 'Warm',
    replacesSource: metadata.annotations?.[annotations.replacesSource] === 'true',
  })
}

async function unregister(deps: BaseModelDeps, name: string): Promise<void> {
  const { client, pool, namespace, log, scales } = deps
  const baseModel = await readObject<BaseModel>(client, customPath('BaseModel', namespace, name))
  if (baseModel && baseModel.metadata.deletionTimestamp === undefined) return
  await deleteStrays(deps, name)
  forgetDemand(scales, name)
  await markDraining(pool, { namespace, name }, [])
  if (await unregisterBaseModel(pool, namespace, name)) log.info({ baseModel: name }, 'base model unregistered')
}

/** Kubernetes deletes the trainers of a base model with it, but not those that it does not own. */
async function deleteStrays({ client, namespace, pods, log, events }: BaseModelDeps, name: string): Promise<void> {
  const isStray = ({ metadata }: Pod) =>
    metadata.deletionTimestamp === undefined && (metadata.ownerReferences ?? []).length === 0
  for (const pod of listPods(pods, name, 'trainer').filter(isStray)) {
    await deleteObject(client, podPath(namespace, pod.metadata.name), uidOf(pod))
    events.recordDrift('pod_unwanted')
    log.warn({ baseModel: name, pod: pod.metadata.name }, 'a trainer without its base model was deleted')
  }
}

async function reconcileTrainers(
  deps: BaseModelDeps,
  baseModel: BaseModel,
  wanted: number,
): Promise<Requeue | undefined> {
  const name = baseModel.metadata.name ?? ''
  const { actions, draining, requeueAfterMs } = planTrainers({
    baseModelName: name,
    pods: listPods(deps.pods, name, 'trainer'),
    busyPods: await listBusyPods(deps.pool),
    wanted,
    hash: trainerHash(baseModel, deps.podSettings),
    now: new Date(),
  })
  await markDraining(deps.pool, { namespace: deps.namespace, name }, draining)
  // From here on they claim nothing. One of them may have claimed a job since they were looked at.
  const busyPods = await listBusyPods(deps.pool)
  const isFree = (action: TrainerAction) => action.do === 'create' || !busyPods.has(action.uid)
  for (const action of actions.filter(isFree)) await executeAction(deps, baseModel, action)
  return requeueAfterMs === undefined ? undefined : { afterMs: requeueAfterMs }
}

async function executeAction(deps: BaseModelDeps, baseModel: BaseModel, action: TrainerAction): Promise<void> {
  const { client, namespace, podSettings, log } = deps
  log.info({ baseModel: baseModel.metadata.name, ...action }, 'trainer pod')
  if (action.do === 'delete') {
    const isDrift = action.reason === unwanted && baseModel.spec.trainer?.warm?.max === undefined
    if (isDrift) deps.events.recordDrift('pod_unwanted')
    return deleteObject(client, podPath(namespace, action.name), action.uid)
  }
  await createObject(client, podPath(namespace), buildTrainerPod(baseModel, podSettings, action), { isStrict: true })
}

async function measureBaseModel(
  deps: BaseModelDeps,
  baseModel: BaseModel,
  { wanted, failure }: { wanted: Wanted; failure: Error | undefined },
): Promise<BaseModelStatus> {
  const name = baseModel.metadata.name ?? ''
  const enginePods = listPods(deps.pods, name, 'engine')
  const trainers = isColocated(baseModel)
    ? { wanted: wanted.engines, pods: enginePods, hash: wanted.deployed.hash }
    : {
        wanted: wanted.trainers,
        pods: listPods(deps.pods, name, 'trainer'),
        hash: trainerHash(baseModel, deps.podSettings),
      }
  return describeBaseModel(baseModel, {
    enginePods,
    deployment: deps.deployments.get(engineName(baseModel)),
    wantedEngines: wanted.engines,
    engineHash: wanted.deployed.hash,
    turnOf: wanted.deployed.turnOf,
    wantedTrainers: trainers.wanted,
    trainerPods: trainers.pods,
    trainerHash: trainers.hash,
    creationError: failure?.cause instanceof KubeError ? failure.cause : undefined,
    downloads: await findDownloads(deps.pool, listWaiting([...enginePods, ...trainers.pods])),
    untrainedLayers: await findUntrainedLayers(deps.pool, baseModel.spec.names[0] ?? ''),
    now: new Date(),
  })
}

/** For those whose jobs wait for a trainer. */
async function recordTrouble({ pool, pods, namespace }: BaseModelDeps, baseModel: BaseModel): Promise<void> {
  const { name: crName = '' } = baseModel.metadata
  const trainers = listPods(pods, crName, findTrainerComponent(baseModel))
  await recordTrainerTrouble(pool, { namespace, crName }, findTrainerTrouble(trainers))
}

/** The uids of pods that may be downloading. */
function listWaiting(pods: Pod[]): string[] {
  return pods.filter((pod) => !isReady(pod)).map(uidOf)
}

async function writeStatus(deps: BaseModelDeps, seen: BaseModel, status: BaseModelStatus): Promise<void> {
  await patchStatus(deps.client, customPath('BaseModel', deps.namespace, seen.metadata.name), seen, status)
  await recordEvents(deps, seen, diffPodSecurity(seen.status, status))
}
