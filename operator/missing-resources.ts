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
import type { Logger } from '../lib/log.ts'
import { createObject } from '../lib/kube/apply.ts'
import { KubeError } from '../lib/kube/error.ts'
import { customPath } from '../crds/paths.ts'
import type { Tenants } from './tenants.ts'

interface Deps {
  client: KubeClient
  pool: Pool
  log: Logger
  tenants: Tenants
}

/**
 * Creates the resources of rows that came over REST while kube-apiserver did not answer. A resource that exists was
 * created by the apiserver, or by an operator before a crash. A row that fails does not stop the others.
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

async function createJob({ client, pool }: Deps, job: JobWithoutResource): Promise<void> {
  try {
    const path = customPath('TrainingJob', job.namespace)
    await createObject(client, path, buildTrainingJob({ ...job, ...describeRetries(job.maxAttempts) }))
    await markJobResourceCreated(pool, job.id)
  } catch (error) {
    if (!(error instanceof KubeError && error.status === 422)) throw error
    // Every further attempt would be rejected, and a client waits for the job's end.
    const failure = { category: 'User', reason: 'InvalidSpec', message: error.message, retryable: false } as const
    await failJob(pool, job.id, failure)
  }
}
