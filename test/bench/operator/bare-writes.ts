import { randomUUID } from 'node:crypto'
import type { Model, TrainingJob } from '../../../crds/generated.ts'
import { apiVersion } from '../../../crds/names.ts'
import { customPath } from '../../../crds/paths.ts'
import { forEachConcurrent } from '../../../artifacts/store/for-each-concurrent.ts'
import { patchStatus, type KubeObject } from '../../../lib/kube/apply.ts'
import { recordEvents } from '../../../lib/kube/events.ts'
import type { KubeClient } from '../../../lib/kube/client.ts'
import { createLogger } from '../../../lib/log.ts'
import type { StackHandle } from '../../support/global-setup.ts'
import { createNamespace, removeNamespace } from '../../support/namespace.ts'
import { countTo, type BatchResult } from './batch.ts'
import type { Plane } from './plane.ts'

const concurrency = 8
const log = createLogger('bench', 'silent')

/** The writes of a batch for each job. */
interface Mix {
  creations: number
  statuses: number
  modelStatuses: number
  events: number
}

/**
 * Sends the same writes as a batch has made, with the same client, into a namespace that nobody watches. Returns how
 * many jobs a second that are.
 */
export async function measureBareWrites(stack: StackHandle, plane: Plane, batch: BatchResult): Promise<number> {
  const { client } = plane
  const namespace = `bare-${randomUUID().slice(0, 8)}`
  const [job, model] = [await readFirst<TrainingJob>(plane, 'TrainingJob'), await readFirst<Model>(plane, 'Model')]
  await createNamespace(stack, namespace)
  try {
    const ownModel = await create(client, 'Model', strip(model, namespace, 'model'))
    const mix = describeMix(batch)
    const startMs = performance.now()
    await forEachConcurrent(countTo(batch.jobs), concurrency, (number) =>
      writeJob(client, { job, model: ownModel, modelStatus: model.status, number, mix }),
    )
    return batch.jobs / ((performance.now() - startMs) / 1000)
  } finally {
    await removeNamespace(stack, namespace)
  }
}

interface Written {
  job: TrainingJob
  model: Model
  modelStatus: Model['status']
  number: number
  mix: Mix
}

async function writeJob(client: KubeClient, { job, model, modelStatus, number, mix }: Written): Promise<void> {
  const count = (each: number) => Math.round((number + 1) * each) - Math.round(number * each)
  const namespace = model.metadata.namespace!
  const own = await create(client, 'TrainingJob', strip(job, namespace, `job-${number}`))
  const path = customPath('TrainingJob', namespace, own.metadata.name)
  for (let status = 0; status < count(mix.statuses); status++) {
    await patchStatus(client, path, own, { ...job.status, message: `Status ${status}.` })
  }
  for (let status = 0; status < count(mix.modelStatuses); status++) {
    const next = { ...modelStatus, latestStep: number + 1 }
    await patchStatus(client, customPath('Model', namespace, model.metadata.name), model, next)
  }
  const specs = Array.from({ length: count(mix.events) }, (_, event) => ({
    type: 'Normal' as const,
    reason: 'Succeeded',
    message: `Event ${event}.`,
  }))
  await recordEvents({ client, log }, own, specs)
}

function describeMix({ writes }: BatchResult): Mix {
  const count = (wanted: (key: string) => boolean) =>
    [...writes].filter(([key]) => wanted(key)).reduce((total, [, each]) => total + each, 0)
  return {
    creations: count((key) => key === 'POST trainingjobs'),
    statuses: count((key) => key.includes('trainingjobs') && key !== 'POST trainingjobs'),
    modelStatuses: count((key) => key.includes(' models')),
    events: count((key) => key.includes(' events')),
  }
}

async function readFirst<T extends KubeObject>(
  { client, namespace }: Plane,
  kind: 'TrainingJob' | 'Model',
): Promise<T> {
  const { items } = await client.request<{ items: T[] }>({ path: customPath(kind, namespace), query: { limit: '1' } })
  return items[0]!
}

/** The same object as somebody would create it. */
function strip<T extends KubeObject & { spec: object }>({ metadata, spec }: T, namespace: string, name: string) {
  const { labels, finalizers } = metadata
  return { apiVersion, metadata: { name, namespace, labels, finalizers }, spec } as unknown as T
}

async function create<T extends KubeObject>(client: KubeClient, kind: 'TrainingJob' | 'Model', object: T): Promise<T> {
  const path = customPath(kind, object.metadata.namespace!)
  return client.request<T>({ method: 'POST', path, body: { ...object, kind } })
}
