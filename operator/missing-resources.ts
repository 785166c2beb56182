import type { TrainingJob } from '../crds/generated.ts'
import { buildModel, buildTrainingJob } from '../crds/manifests.ts'
import { describeRetries } from '../db/jobs/attempts.ts'
import { failJob } from '../db/jobs/endings.ts'
import {
  listJobsWithoutResource,
  markJobResourceCreated,
  type JobWithoutResource,
} from '../db/jobs/missing-resources.ts'
import {
  listModelsWithoutResource,
  markModelResourceCreated,
  type ModelWithoutResource,
} from '../db/models/missing-resources.ts'
import type { Pool } from '../db/pool.ts'
import type { KubeClient } from '../lib/kube/client.ts'
import type { ObjectCache } from '../lib/kube/reflector.ts'
import type { Logger } from '../lib/log.ts'
import { createObject } from '../lib/kube/apply.ts'
import { KubeError } from '../lib/kube/error.ts'
import { customPath } from '../crds/paths.ts'
import { keyOfRow } from './resource-keys.ts'
import type { Tenants } from './tenants.ts'

interface Deps {
  client: KubeClient
  pool: Pool
  log: Logger
  tenants: Tenants
  trainingJobs: ObjectCache<TrainingJob>
}

/**
 * Creates the resources of rows that came over REST while kube-apiserver did not answer. A resource that exists was
 * created by the apiserver, which leaves it to the operator to record that of a job, or by an operator before a crash. A row
 * that fails does not stop the others.
 */
export async function createMissingResources(deps: Deps): Promise<void> {
  for (const namespace of deps.tenants.namespaces) {
    for (const model of await listModelsWithoutResource(deps.pool, namespace)) {
      await tryToCreate(deps, { model: model.id }, () => createModel(deps, model))
    }
    for (const job of await listJobsWithoutResource(deps.pool, namespace)) {
      await tryToCreate(deps, { job: job.id }, () => createJob(deps, job))
    }
  }
}

async function tryToCreate({ log }: Deps, fields: object, create: () => Promise<void>): Promise<void> {
  try {
    await create()
    log.info(fields, 'resource created for a row')
  } catch (error) {
    log.warn({ ...fields, error }, 'creating a resource failed')
  }
}

async function createModel({ client, pool }: Deps, model: ModelWithoutResource): Promise<void> {
  await createObject(client, customPath('Model', model.namespace), buildModel(model))
  await markModelResourceCreated(pool, model.id)
}

async function createJob({ client, pool, trainingJobs }: Deps, job: JobWithoutResource): Promise<void> {
  try {
    const resource = buildTrainingJob({ ...job, ...describeRetries(job.maxAttempts) })
    if (!trainingJobs.get(keyOfRow(job))) await createObject(client, customPath('TrainingJob', job.namespace), resource)
    await markJobResourceCreated(pool, job.id)
  } catch (error) {
    if (!(error instanceof KubeError && error.status === 422)) throw error
    // Every further attempt would be rejected, and a client waits for the job's end.
    const failure = { category: 'User', reason: 'InvalidSpec', message: error.message, retryable: false } as const
    await failJob(pool, job.id, failure)
  }
}
