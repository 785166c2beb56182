import { randomUUID } from 'node:crypto'
import type { BaseModel, Model, TrainingJob } from '../../crds/generated.ts'
import { extractJobFacts, type JobMode } from '../../crds/manifests.ts'
import { isRowsMethod } from '../../crds/methods.ts'
import { customPath } from '../../crds/paths.ts'
import { specDigest } from '../../crds/spec-digest.ts'
import { cancelJob, failJob } from '../../db/jobs/endings.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { insertJob } from '../../db/jobs/insert.ts'
import { limitAttempts } from '../../db/jobs/resources.ts'
import { wantSuspended } from '../../db/jobs/suspension.ts'
import type { NewJob } from '../../db/jobs/table.ts'
import type { Pool } from '../../db/pool.ts'
import { mergePatch } from '../../lib/kube/apply.ts'
import type { KubeClient } from '../../lib/kube/client.ts'
import { KubeError } from '../../lib/kube/error.ts'
import type { ObjectCache } from '../../lib/kube/reflector.ts'
import type { Logger } from '../../lib/log.ts'
import type { OperatorEvents } from '../metrics/events.ts'
import { modelKeyOf } from '../resource-keys.ts'
import { idsOf, readFresh, readWhole } from './find-job.ts'
import type { JobPlan } from './plan.ts'

interface ExecuteDeps {
  client: KubeClient
  pool: Pool
  log: Logger
  /** Of the resource. */
  namespace: string
  baseModels: ObjectCache<BaseModel>
  models: ObjectCache<Model>
  events: OperatorEvents
}

/** Executes a step of the plan of a job. Returns the resource if that was read anew. */
export async function executePlan(
  deps: ExecuteDeps,
  resource: TrainingJob,
  plan: Exclude<JobPlan, { do: 'none' | 'delete' }>,
): Promise<TrainingJob | void> {
  const { pool, namespace } = deps
  switch (plan.do) {
    case 'insert': {
      if (idsOf(resource).length > 0) deps.events.recordDrift('job_row_lost')
      const whole = await readWhole(deps, resource)
      await insertJob(pool, describeNewJob(whole, { namespace, ...plan, defaultMode: findDefaultMode(deps, resource) }))
      return
    }
    case 'queue':
      return queueJob(pool, plan.id)
    case 'limit':
      return limitAttempts(pool, plan.id, plan.maxAttempts)
    case 'wantSuspended':
      return writeSuspension(deps, resource, plan)
    case 'fail':
      await failJob(pool, plan.id, plan.failure)
      return
    case 'cancel':
      await cancelJob(pool, plan.id)
  }
}

/**
 * Returns the resource as it is then. Our copy may be older than the row. The rules of the resource reject the change if it
 * leaves its mode to its base model.
 */
async function writeSuspension(
  deps: ExecuteDeps,
  seen: TrainingJob,
  { id, asked }: Extract<JobPlan, { do: 'wantSuspended' }>,
): Promise<TrainingJob> {
  let resource = await readFresh(deps, seen)
  if (asked !== null && asked !== (resource.spec.suspend ?? false)) {
    try {
      const path = customPath('TrainingJob', deps.namespace, resource.metadata.name)
      resource = await mergePatch<TrainingJob>(deps.client, path, { spec: { suspend: asked } })
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 422)) throw error
      deps.log.warn({ job: id, error }, 'a job cannot be suspended')
    }
  }
  await wantSuspended(deps.pool, id, { suspend: resource.spec.suspend ?? false, asked })
  return resource
}

interface NewJobContext {
  namespace: string
  defaultMode: JobMode
}

/** Who trains a job that does not say it. */
function findDefaultMode(
  { models, baseModels }: Pick<ExecuteDeps, 'models' | 'baseModels'>,
  resource: TrainingJob,
): JobMode {
  const model = models.get(modelKeyOf(resource))
  return (model && baseModels.get(model.spec.baseModelRef.name)?.spec.trainer?.defaultMode) ?? 'Warm'
}

/** Describes a job from kubectl: its resource exists. */
function describeNewJob(
  resource: TrainingJob,
  { namespace, modelId, maxAttempts, defaultMode }: Extract<JobPlan, { do: 'insert' }> & NewJobContext,
): NewJob {
  const facts = extractJobFacts(resource.spec, defaultMode)
  return {
    ...facts,
    id: randomUUID(),
    namespace,
    crName: resource.metadata.name ?? '',
    specDigest: specDigest(resource.spec),
    modelId,
    maxAttempts,
    trainingDataUrl: isRowsMethod(facts.method) ? facts.inputUri : null,
    resourceCreatedAt: new Date(),
    keyId: null,
    // Only REST retries jobs.
    retryOf: null,
    experimentalConfig: null,
    inputBytes: null,
    creationWarnings: [],
  }
}
