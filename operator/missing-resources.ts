import { buildModel, buildTrainingJob } from '../crds/manifests.ts'
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

interface Deps {
  client: KubeClient
  pool: Pool
  log: Logger
  namespace: string
}

/**
 * Makes the resources of rows that came over REST while kube-apiserver did not answer. One that is there already was
 * made by the apiserver, or by us before a crash. A row that cannot be made never stops the others.
 */
export async function makeMissingResources(deps: Deps): Promise<void> {
  for (const model of await listModelsWithoutResource(deps.pool, deps.namespace)) {
    await tryToMake(deps, { model: model.id }, () => makeModel(deps, model))
  }
  for (const job of await listJobsWithoutResource(deps.pool, deps.namespace)) {
    await tryToMake(deps, { job: job.id }, () => makeJob(deps, job))
  }
}

async function tryToMake({ log }: Deps, fields: object, make: () => Promise<void>): Promise<void> {
  try {
    await make()
    log.info(fields, 'resource made for a row')
  } catch (error) {
    log.warn({ ...fields, error }, 'making a resource failed')
  }
}

async function makeModel({ client, pool, namespace }: Deps, model: ModelWithoutResource): Promise<void> {
  await createObject(client, customPath('Model', namespace), buildModel(model))
  await markModelResourceCreated(pool, model.id)
}

async function makeJob({ client, pool, namespace }: Deps, job: JobWithoutResource): Promise<void> {
  try {
    await createObject(client, customPath('TrainingJob', namespace), buildTrainingJob(job))
    await markJobResourceCreated(pool, job.id)
  } catch (error) {
    if (!(error instanceof KubeError && error.status === 422)) throw error
    // It will be refused for ever, and somebody waits for the job's end.
    const failure = { category: 'User', reason: 'InvalidSpec', message: error.message, retryable: false } as const
    await failJob(pool, job.id, failure)
  }
}
