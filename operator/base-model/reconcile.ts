import type { BaseModel } from '../../crds/generated.ts'
import { annotations, labels } from '../../crds/names.ts'
import { describeTrainedOn } from '../../crds/trained-on.ts'
import { listBusyPods, markDraining } from '../../db/jobs/busy-trainers.ts'
import { registerBaseModel, unregisterBaseModel } from '../../db/base-models/resources.ts'
import type { Pool } from '../../db/pool.ts'
import type { Logger } from '../../lib/log.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import { applyObject, createObject, deleteObject, patchStatus, readObject } from '../../lib/kube/apply.ts'
import type { Requeue } from '../../lib/kube/queue.ts'
import { KubeError } from '../../lib/kube/error.ts'
import type { Deployment, Pod } from '../../lib/kube/objects.ts'
import { customPath } from '../../crds/paths.ts'
import { deploymentPath, podPath } from '../../lib/kube/paths.ts'
import { listPods } from '../component-pods.ts'
import { planTrainers, type TrainerAction } from './plan.ts'
import {
  buildEngineDeployment,
  buildTrainerPod,
  engineHash,
  engineName,
  trainerHash,
  type PodSettings,
} from './pods.ts'
import { describeConflict } from './conflict.ts'
import { describeBaseModel, describeRejected, type BaseModelStatus } from './status.ts'

/** What the reconciliation of base models needs. */
export interface BaseModelDeps {
  client: KubeClient
  pool: Pool
  log: Logger
  namespace: string
  podSettings: PodSettings
  baseModels: ObjectCache<BaseModel>
  pods: ObjectCache<Pod>
  deployments: ObjectCache<Deployment>
}

/**
 * Reconciles a BaseModel: registers it for the apiserver, deploys its engines and runs its trainers. When the resource
 * is gone, Kubernetes deletes its pods.
 */
export async function reconcileBaseModel(deps: BaseModelDeps, name: string): Promise<Requeue | void> {
  const baseModel = deps.baseModels.get(name)
  if (!baseModel) return unregister(deps, name)
  if (baseModel.metadata.deletionTimestamp !== undefined) return
  const conflict = await register(deps, baseModel)
  if (conflict !== undefined) {
    return writeStatus(deps, baseModel, describeRejected(baseModel, describeConflict(conflict), new Date()))
  }
  const outcome = await reconcileChildren(deps, baseModel)
  const failure = outcome instanceof Error ? outcome : undefined
  await writeStatus(deps, baseModel, measureBaseModel(deps, baseModel, failure))
  if (outcome instanceof Error) throw outcome
  return outcome
}

/** Returns an error, so that the status shows it before the work is repeated. */
async function reconcileChildren(deps: BaseModelDeps, baseModel: BaseModel): Promise<Requeue | Error | undefined> {
  try {
    await deployEngines(deps, baseModel)
    return await reconcileTrainers(deps, baseModel)
  } catch (cause) {
    return new Error('making the pods of a base model', { cause })
  }
}

function register({ pool, namespace }: BaseModelDeps, { metadata, spec }: BaseModel) {
  return registerBaseModel(pool, {
    namespace,
    crName: metadata.name ?? '',
    names: spec.names,
    isDefault: spec.default === true,
    createdAt: new Date(metadata.creationTimestamp ?? Date.now()),
    trainedOn: describeTrainedOn(spec),
    replacesSource: metadata.annotations?.[annotations.replacesSource] === 'true',
  })
}

async function unregister({ client, pool, namespace, log }: BaseModelDeps, name: string): Promise<void> {
  if (await readObject(client, customPath('BaseModel', namespace, name))) return
  await markDraining(pool, { namespace, name }, [])
  if (await unregisterBaseModel(pool, namespace, name)) log.info({ baseModel: name }, 'base model unregistered')
}

/** Applies the Deployment only if its specification has changed, so that an admin's changes to it stay. */
async function deployEngines(deps: BaseModelDeps, baseModel: BaseModel): Promise<void> {
  const { client, namespace, podSettings, log } = deps
  const wanted = buildEngineDeployment(baseModel, podSettings) as Deployment
  const name = engineName(baseModel)
  const present = deps.deployments.get(name)
  if (present?.metadata.labels?.[labels.specHash] === wanted.metadata.labels?.[labels.specHash]) return
  await applyObject(client, deploymentPath(namespace, name), wanted)
  log.info({ baseModel: baseModel.metadata.name, deployment: name }, 'engines deployed')
}

async function reconcileTrainers(deps: BaseModelDeps, baseModel: BaseModel): Promise<Requeue | undefined> {
  const name = baseModel.metadata.name ?? ''
  const { actions, draining, requeueAfterMs } = planTrainers({
    baseModelName: name,
    pods: listPods(deps.pods, name, 'trainer'),
    busyPods: await listBusyPods(deps.pool),
    wanted: baseModel.spec.trainer?.warm?.min ?? 1,
    hash: trainerHash(baseModel, deps.podSettings),
    now: new Date(),
  })
  await markDraining(deps.pool, { namespace: deps.namespace, name }, draining)
  for (const action of actions) await executeAction(deps, baseModel, action)
  return requeueAfterMs === undefined ? undefined : { afterMs: requeueAfterMs }
}

async function executeAction(deps: BaseModelDeps, baseModel: BaseModel, action: TrainerAction): Promise<void> {
  const { client, namespace, podSettings, log } = deps
  log.info({ baseModel: baseModel.metadata.name, ...action }, 'trainer pod')
  if (action.do === 'delete') return deleteObject(client, podPath(namespace, action.name), action.uid)
  await createObject(client, podPath(namespace), buildTrainerPod(baseModel, podSettings, action))
}

function measureBaseModel(deps: BaseModelDeps, baseModel: BaseModel, failure: Error | undefined): BaseModelStatus {
  const name = baseModel.metadata.name ?? ''
  return describeBaseModel(baseModel, {
    enginePods: listPods(deps.pods, name, 'engine'),
    deployment: deps.deployments.get(engineName(baseModel)),
    engineHash: engineHash(baseModel, deps.podSettings),
    trainerPods: listPods(deps.pods, name, 'trainer'),
    trainerHash: trainerHash(baseModel, deps.podSettings),
    creationError: failure?.cause instanceof KubeError ? failure.cause : undefined,
    now: new Date(),
  })
}

async function writeStatus(
  { client, namespace }: BaseModelDeps,
  seen: BaseModel,
  status: BaseModelStatus,
): Promise<void> {
  await patchStatus(client, customPath('BaseModel', namespace, seen.metadata.name), seen, status)
}
