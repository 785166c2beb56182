import type { BaseModel } from '../../crds/generated.ts'
import { labels, reasons } from '../../crds/names.ts'
import { listBusyPods, markDraining } from '../../db/jobs/busy-trainers.ts'
import { registerBaseModel, unregisterBaseModel } from '../../db/base-models/resources.ts'
import type { Context } from '../context.ts'
import { applyObject, createObject, deleteObject, patchStatus, readObject } from '../../lib/kube/apply.ts'
import { KubeError } from '../../lib/kube/error.ts'
import type { Deployment, Pod } from '../../lib/kube/objects.ts'
import { customPath } from '../../crds/paths.ts'
import { deploymentPath, podPath } from '../../lib/kube/paths.ts'
import { planTrainers, type TrainerAction } from './plan.ts'
import { buildEngineDeployment, buildTrainerPod, engineHash, engineName, trainerHash, type Component } from './pods.ts'
import { describeBaseModel, describeRefused, type BaseModelStatus } from './status.ts'

/**
 * Brings one BaseModel to what its specification says: known to the apiserver, its engines deployed, its trainers
 * running. When the resource is gone, Kubernetes deletes its pods, which it owns.
 */
export async function reconcileBaseModel(context: Context, name: string): Promise<void> {
  const baseModel = context.baseModels.get(name)
  if (!baseModel) return forgetBaseModel(context, name)
  if (baseModel.metadata.deletionTimestamp !== undefined) return
  const taken = await registerBaseModel(context.pool, {
    namespace: context.namespace,
    crName: name,
    names: baseModel.spec.names,
  })
  if (taken !== undefined) return refuseBaseModel(context, baseModel, taken)
  const failure = await makeChildren(context, baseModel)
  await writeStatus(context, baseModel, measureBaseModel(context, baseModel, failure))
  if (failure) throw failure
}

/** Gives what went wrong, so that the status tells it before the work is repeated. */
async function makeChildren(context: Context, baseModel: BaseModel): Promise<Error | undefined> {
  try {
    await deployEngines(context, baseModel)
    await keepTrainers(context, baseModel)
    return undefined
  } catch (cause) {
    return new Error('making the pods of a base model', { cause })
  }
}

async function forgetBaseModel({ client, pool, namespace, log }: Context, name: string): Promise<void> {
  if (await readObject(client, customPath('BaseModel', namespace, name))) return
  await markDraining(pool, { namespace, name }, [])
  if (await unregisterBaseModel(pool, namespace, name)) log.info({ baseModel: name }, 'base model forgotten')
}

async function refuseBaseModel(context: Context, baseModel: BaseModel, taken: string): Promise<void> {
  const message = `Another BaseModel has the name ${taken} already.`
  await writeStatus(context, baseModel, describeRefused(baseModel, reasons.nameConflict, message, new Date()))
}

/** Applied when what we want has changed, so that an admin's own experiments with the Deployment are left alone. */
async function deployEngines(context: Context, baseModel: BaseModel): Promise<void> {
  const { client, namespace, podSettings, log } = context
  const wanted = buildEngineDeployment(baseModel, podSettings) as Deployment
  const name = engineName(baseModel)
  const present = context.deployments.get(name)
  if (present?.metadata.labels?.[labels.specHash] === wanted.metadata.labels?.[labels.specHash]) return
  await applyObject(client, deploymentPath(namespace, name), wanted)
  log.info({ baseModel: baseModel.metadata.name, deployment: name }, 'engines deployed')
}

async function keepTrainers(context: Context, baseModel: BaseModel): Promise<void> {
  const name = baseModel.metadata.name ?? ''
  const { actions, draining } = planTrainers({
    baseModelName: name,
    pods: listPods(context, baseModel, 'trainer'),
    busyPods: await listBusyPods(context.pool),
    wanted: baseModel.spec.trainer?.warm?.min ?? 1,
    hash: trainerHash(baseModel, context.podSettings),
    now: new Date(),
  })
  await markDraining(context.pool, { namespace: context.namespace, name }, draining)
  for (const action of actions) await executeAction(context, baseModel, action)
}

async function executeAction(context: Context, baseModel: BaseModel, action: TrainerAction): Promise<void> {
  const { client, namespace, podSettings, log } = context
  log.info({ baseModel: baseModel.metadata.name, ...action }, 'trainer pod')
  if (action.do === 'delete') return deleteObject(client, podPath(namespace, action.name), action.uid)
  await createObject(client, podPath(namespace), buildTrainerPod(baseModel, podSettings, action.name))
}

function measureBaseModel(context: Context, baseModel: BaseModel, failure: Error | undefined): BaseModelStatus {
  return describeBaseModel(baseModel, {
    enginePods: listPods(context, baseModel, 'engine'),
    deployment: context.deployments.get(engineName(baseModel)),
    engineHash: engineHash(baseModel, context.podSettings),
    trainerPods: listPods(context, baseModel, 'trainer'),
    trainerHash: trainerHash(baseModel, context.podSettings),
    refusal: failure?.cause instanceof KubeError ? failure.cause : undefined,
    now: new Date(),
  })
}

/** The pods of a component, by labels; those of an earlier BaseModel of the same name too. */
function listPods({ pods }: Context, baseModel: BaseModel, component: Component): Pod[] {
  return pods
    .list()
    .filter(
      ({ metadata }) =>
        metadata.labels?.[labels.baseModel] === baseModel.metadata.name &&
        metadata.labels?.[labels.component] === component,
    )
}

async function writeStatus({ client, namespace }: Context, seen: BaseModel, status: BaseModelStatus): Promise<void> {
  await patchStatus(client, customPath('BaseModel', namespace, seen.metadata.name), seen, status)
}
