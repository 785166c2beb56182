import type { BaseModel } from '../../../crds/generated.ts'
import { annotations, labels } from '../../../crds/names.ts'
import { findDownloads } from '../../../db/base-models/downloads.ts'
import { listAttemptPods, recordFailedStart } from '../../../db/jobs/lost-attempts.ts'
import type { OperatorJob } from '../../../db/jobs/resources.ts'
import { markSuspended, resumeJob } from '../../../db/jobs/suspension.ts'
import type { Pool } from '../../../db/pool.ts'
import { createObject, deleteWithChildren } from '../../../lib/kube/apply.ts'
import type { KubeClient } from '../../../lib/kube/client.ts'
import { isReady, uidOf, type Job, type Pod } from '../../../lib/kube/objects.ts'
import { jobPath, podPath } from '../../../lib/kube/paths.ts'
import type { ObjectCache } from '../../../lib/kube/reflector.ts'
import type { Logger } from '../../../lib/log.ts'
import type { PodSettings } from '../../base-model/pod/common.ts'
import { explainWaitingPod } from '../../base-model/pod/downloads.ts'
import { trainerHash } from '../../base-model/trainer/pod.ts'
import { listBaseModelsNamed } from '../../component-pods.ts'
import type { StatusReason } from '../../conditions.ts'
import { buildJob } from './job.ts'
import { planDedicated, type DedicatedAction, type DedicatedFacts } from './plan.ts'

export interface DedicatedDeps {
  client: KubeClient
  pool: Pool
  log: Logger
  /** The operator's: that of BaseModels and pods. */
  podNamespace: string
  podSettings: PodSettings
  baseModels: ObjectCache<BaseModel>
  jobs: ObjectCache<Job>
  pods: ObjectCache<Pod>
}

/** What there is in the cluster of a job that has pods of its own, for its status. */
export interface OwnPods {
  /** Whether there is neither a Job nor a pod. */
  isGone: boolean
  /** Whether its Job waits for quota. */
  isHeld: boolean
  /** The name of its pod. */
  podName: string | undefined
  /** Why its pod is not Ready; undefined if it is, or if there is none. */
  notReady: StatusReason | undefined
}

interface Found {
  jobs: Job[]
  pods: Pod[]
}

/** Makes or deletes the pods of a job, one step at a time, until nothing is left to do but to wait. */
export async function reconcileDedicated(
  deps: DedicatedDeps,
  key: string,
  job: OperatorJob,
): Promise<{ requeueAfterMs?: number; isChanged: boolean }> {
  const action = planDedicated(await observe(deps, key, job))
  if (action.do === 'none') return { ...action, isChanged: false }
  deps.log.info({ trainingJob: key, ...action }, 'pods of a job')
  return { isChanged: await execute(deps, key, { job, action }) }
}

/** What the status says of its pods. Before it first says that a job has ended, kube-apiserver is asked. */
export async function observePods(
  deps: DedicatedDeps,
  key: string,
  { id, isEnding }: { id: string; isEnding: boolean },
): Promise<OwnPods> {
  const { jobs, pods } = find(deps, key)
  const pod = pods.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? pods[0]
  const downloads = pod && !isReady(pod) ? await findDownloads(deps.pool, [uidOf(pod)]) : new Map()
  return {
    isGone: jobs.length + pods.length === 0 && (!isEnding || (await isClear(deps, id))),
    isHeld: jobs.some(({ spec }) => spec?.suspend === true),
    podName: pod?.metadata.name,
    notReady: pod && !isReady(pod) ? explainWaitingPod(pod, downloads) : undefined,
  }
}

/** Whether something is left of the pods of a resource. */
export function hasPods(deps: Pick<DedicatedDeps, 'jobs' | 'pods'>, key: string): boolean {
  const { jobs, pods } = find(deps, key)
  return jobs.length + pods.length > 0
}

/** Deletes the Jobs of a resource that is gone or goes. Their pods save their progress and end. */
export async function deletePods(deps: DedicatedDeps, key: string): Promise<void> {
  for (const { metadata } of find(deps, key).jobs) {
    if (metadata.deletionTimestamp !== undefined) continue
    deps.log.info({ trainingJob: key, job: metadata.name }, 'pods of a job that is gone')
    await deleteWithChildren(deps.client, jobPath(deps.podNamespace, metadata.name), metadata.uid ?? '')
  }
}

function find({ jobs, pods }: Pick<DedicatedDeps, 'jobs' | 'pods'>, key: string): Found {
  const isOwn = ({ metadata }: Job | Pod) => metadata.annotations?.[annotations.trainingJob] === key
  return { jobs: jobs.list().filter(isOwn), pods: pods.list().filter(isOwn) }
}

async function observe(deps: DedicatedDeps, key: string, job: OperatorJob): Promise<DedicatedFacts> {
  const [baseModel] = listBaseModelsNamed(deps.baseModels, job.baseModel)
  const found = find(deps, key)
  const isEnded = found.pods.some(({ status }) => status?.phase === 'Failed')
  return {
    job,
    baseModel,
    hash: baseModel && trainerHash(baseModel, deps.podSettings),
    ...found,
    knownPods: isEnded ? await listAttemptPods(deps.pool, job.id) : new Set(),
    now: new Date(),
  }
}

/** Returns whether the row or the cluster has changed, so that it is worth planning again. */
async function execute(
  deps: DedicatedDeps,
  key: string,
  { job, action }: { job: OperatorJob; action: Exclude<DedicatedAction, { do: 'none' }> },
): Promise<boolean> {
  const { client, pool, podNamespace } = deps
  switch (action.do) {
    case 'create':
      await create(deps, key, job)
      return false
    case 'delete':
      await deleteWithChildren(client, jobPath(podNamespace, action.name), action.uid)
      return false
    case 'recordFailedStart':
      await recordFailedStart(pool, { jobId: job.id, podUid: action.podUid }, action.verdict)
      break
    case 'suspend':
      if (!(await isClear(deps, job.id))) return false
      await markSuspended(pool, job.id)
      break
    case 'resume':
      await resumeJob(pool, job.id)
  }
  return true
}

/** Asks kube-apiserver whether nothing is left of the last attempt: our copies of Jobs and pods are of different times. */
async function create(deps: DedicatedDeps, key: string, job: OperatorJob): Promise<void> {
  const { client, podNamespace, podSettings } = deps
  const [baseModel] = listBaseModelsNamed(deps.baseModels, job.baseModel)
  if (!baseModel || !(await isClear(deps, job.id))) return
  const built = buildJob(baseModel, podSettings, { job, key })
  await createObject(client, jobPath(podNamespace), built, { isStrict: true })
}

async function isClear({ client, podNamespace }: DedicatedDeps, jobId: string): Promise<boolean> {
  const query = { labelSelector: `${labels.job}=${jobId}` }
  for (const path of [jobPath(podNamespace), podPath(podNamespace)]) {
    const { items } = await client.request<{ items: unknown[] }>({ path, query })
    if (items.length > 0) return false
  }
  return true
}
