import type { BaseModel } from '../../../crds/generated.ts'
import { annotations, labels } from '../../../crds/names.ts'
import { applyObject, mergePatch } from '../../../lib/kube/apply.ts'
import type { KubeClient } from '../../../lib/kube/client.ts'
import type { Deployment, Pod } from '../../../lib/kube/objects.ts'
import { deploymentPath } from '../../../lib/kube/paths.ts'
import type { ObjectCache } from '../../../lib/kube/reflector.ts'
import type { Logger } from '../../../lib/log.ts'
import { listPods } from '../../component-pods.ts'
import type { OperatorEvents } from '../../metrics/events.ts'
import type { AppliedGenerations } from './applied-generations.ts'
import type { PodSettings } from '../pod/common.ts'
import { buildEngineDeployment, engineName, generationOf } from './deployment.ts'
import { engineHash } from './pod.ts'
import { isRollingOut, planRollingUpdate, templateHash, type RolloutTurns } from './rollout.ts'

/** What engines a base model has now. */
export interface DeployedEngines {
  /** The hash of the engines that are wanted now: while it waits for its turn, that of the present ones. */
  hash: string
  /** The base model whose engines are replaced first. */
  turnOf?: string
}

export interface EngineDeps {
  client: KubeClient
  log: Logger
  namespace: string
  podSettings: PodSettings
  rollouts: RolloutTurns
  applied: AppliedGenerations
  events: OperatorEvents
  baseModels: ObjectCache<BaseModel>
  pods: ObjectCache<Pod>
  deployments: ObjectCache<Deployment>
}

/**
 * Applies the Deployment of a base model if it is not as it should be, or if somebody else has changed it: our fields get
 * their values back.
 */
export async function deployEngines(
  deps: EngineDeps,
  baseModel: BaseModel,
  replicas: number,
): Promise<DeployedEngines> {
  const { client, namespace, log } = deps
  const name = engineName(baseModel)
  const present = deps.deployments.get(name)
  const hash = engineHash(baseModel, deps.podSettings)
  const presentHash = templateHash(present)
  const turnOf = presentHash === undefined || presentHash === hash ? undefined : beginTurn(deps, baseModel, present)
  if (presentHash !== undefined && turnOf !== undefined) {
    if (baseModel.spec.engine?.autoscaling) await scalePresent(deps, present, replicas)
    return { hash: presentHash, turnOf }
  }
  const wanted = buildWanted(deps, baseModel, replicas)
  const isDrifted = present !== undefined && deps.applied.isDrifted(present)
  if (!isDrifted && isAsWanted(baseModel, present, wanted)) return { hash }
  if (isDrifted && deps.applied.has(present)) deps.events.recordDrift('deployment_changed')
  const applied = await applyObject(client, deploymentPath(namespace, name), wanted)
  deps.applied.record(applied, deps.deployments.list())
  log.info({ baseModel: baseModel.metadata.name, deployment: name, replicas, isDrifted }, 'engines deployed')
  return { hash }
}

function buildWanted(deps: EngineDeps, baseModel: BaseModel, replicas: number): Deployment {
  const deployment = deps.deployments.get(engineName(baseModel))
  const pods = listPods(deps.pods, baseModel.metadata.name ?? '', 'engine')
  const hash = engineHash(baseModel, deps.podSettings)
  const now = new Date()
  const earlier = deployment?.metadata.annotations?.[annotations.rolledOutAt]
  const isSame = templateHash(deployment) === hash
  return buildEngineDeployment(baseModel, deps.podSettings, {
    replicas,
    rollingUpdate: planRollingUpdate({ replicas, deployment, pods, hash, now }),
    rolledOutAt: isSame && earlier !== undefined ? earlier : now.toISOString(),
  })
}

function isAsWanted(baseModel: BaseModel, present: Deployment | undefined, wanted: Deployment): boolean {
  if (present?.metadata.labels?.[labels.specHash] !== wanted.metadata.labels?.[labels.specHash]) return false
  if (present?.metadata.annotations?.[annotations.baseModelGeneration] !== generationOf(baseModel)) return false
  return !baseModel.spec.engine?.autoscaling || present?.spec?.replicas === wanted.spec?.replicas
}

/**
 * A BaseModel that was changed replaces its engines at once. A change of our settings does one after the other. Returns
 * the base model whose turn it is, if it is not this one's.
 */
function beginTurn(deps: EngineDeps, baseModel: BaseModel, present: Deployment | undefined): string | undefined {
  const earlier = present?.metadata.annotations?.[annotations.baseModelGeneration]
  const isOwnChange = earlier !== undefined && earlier !== generationOf(baseModel)
  if (isOwnChange || present?.spec?.replicas === 0) return undefined
  const { name = '' } = baseModel.metadata
  return deps.rollouts.begin(name, findOtherRollingOut(deps, name))
}

function findOtherRollingOut({ baseModels, deployments, pods }: EngineDeps, name: string): string | undefined {
  const now = new Date()
  const other = baseModels.list().find((each) => {
    const { name: otherName = '' } = each.metadata
    const facts = { deployment: deployments.get(engineName(each)), pods: listPods(pods, otherName, 'engine'), now }
    return otherName !== name && isRollingOut(facts)
  })
  return other?.metadata.name
}

/** Only the number changes. The engines are replaced later. */
async function scalePresent({ client, namespace }: EngineDeps, present: Deployment | undefined, replicas: number) {
  if (present?.spec?.replicas === replicas) return
  await mergePatch(client, deploymentPath(namespace, present?.metadata.name), { spec: { replicas } })
}
