import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BaseModel, Model, TrainingJob } from '../../crds/generated.ts'
import { apiVersion } from '../../crds/names.ts'
import type { Pod } from '../../lib/kube/objects.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { describeBaseModel } from '../support/resources.ts'

// What operators of this kind often get wrong. Each rule has a test with its number, on a real API server:
//  1 Finished stays finished, whatever disappears.          here, dedicated-jobs
//  2 Terminal means that the GPUs are free.                 terminal-means-free, dedicated-jobs
//  3 Why a job waits stands in kubectl get.                 here
//  4 Ready is measured.                                     here, engine-adapters
//  5 Adapters survive restarts of engines.                  engine-adapters
//  6 Uninstallation and finalizers never wedge.             lost-resources in test/faults, test/helm
//  7 Attempts never overlap; a lost node costs no try.      here, dedicated-jobs
//  8 Scale from zero holds requests, with one writer.       engine-autoscaling
//  9 Short names, quiet conflicts, no bad row stops others. here, roles
// 10 Immutable fields are neither changed, added nor removed. here, crds/schema-rules
// 11 Applied again or restored, nothing trains twice.       here, reapplied-jobs

const stack = useStack()
const namespace = `rules-${randomUUID().slice(0, 8)}`
// The longest name that a BaseModel may have.
const baseName = `base-${'x'.repeat(35)}`
// Its resources may name one entity.
const tenant = `${namespace}-tenant`
const database = useTestDatabase()
let operator: RunningOperator
let metricsPort: number

const readJson = async <T>(...args: string[]) =>
  JSON.parse(await stack.kubectl(...args, '-n', namespace, '-o', 'json')) as T
const readJob = async (name: string) => (await readJson<TrainingJob>('get', 'tj', name)).status
const readModel = async (name: string) => (await readJson<Model>('get', 'models.trainyard.dev', name)).status
const patch = (kind: string, name: string, change: object, ...options: string[]) =>
  stack.kubectl('patch', kind, name, '-n', namespace, '--type=merge', '-p', JSON.stringify(change), ...options)

function describeModel(name: string, served = name): Model {
  const spec = { entity: 'rules', project: 'tests', name: served, baseModelRef: { name: baseName } }
  return { apiVersion, kind: 'Model', metadata: { name, namespace }, spec }
}

function describeJob(name: string): TrainingJob {
  const inputRef = { uri: 'artifact:///payloads/rules/a.json', digest: '0'.repeat(64) }
  return {
    apiVersion,
    kind: 'TrainingJob',
    metadata: { name, namespace },
    spec: { modelRef: { name }, method: 'RL', inputRef },
  }
}

async function applyBoth(name: string): Promise<void> {
  await stack.apply(describeModel(name))
  await stack.apply(describeJob(name))
  await eventually(async () => expect(await readJob(name)).toMatchObject({ phase: 'Queued' }))
}

beforeAll(async () => {
  await createNamespace(stack, namespace)
  await stack.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'trainyard-trainer', namespace } })
  await createNamespace(stack, tenant)
  metricsPort = await findFreePort()
  const env = {
    TRAINYARD_TENANTS: JSON.stringify([{ namespace: tenant, entities: ['theirs'] }]),
    TRAINYARD_METRICS_PORT: String(metricsPort),
  }
  operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace, env })
  const trainer = { resources: { limits: { 'nvidia.com/gpu': 1 } } }
  await stack.apply(describeBaseModel(namespace, baseName, { names: ['rules/base'], trainer }))
})
afterAll(async () => {
  await operator?.remove()
  await removeNamespace(stack, tenant)
  await removeNamespace(stack, namespace)
})

test('rule 3: why a job waits stands in kubectl get: the trainer pod has no GPU', async () => {
  await applyBoth('waits')
  await eventually(async () => {
    const line = await stack.kubectl('get', 'tj', 'waits', '-n', namespace, '--no-headers')
    expect(line.split(/ +/).slice(0, 6)).toEqual(['waits', 'Queued', 'waits', 'RL', '0', 'InsufficientGPU'])
  })
  expect(await readJob('waits')).toMatchObject({
    message: expect.stringContaining('0 of 1 trainers are ready') as string,
  })
})

test('a job that nobody begins in time fails, and kubectl wait sees the end', async () => {
  await stack.apply(describeModel('late'))
  const job = describeJob('late')
  await stack.apply({ ...job, spec: { ...job.spec, startDeadlineSeconds: 2, activeDeadlineSeconds: 100 } })
  await stack.kubectl('wait', 'tj/late', '-n', namespace, '--for=condition=Finished', '--timeout=60s')
  expect(await readJob('late')).toMatchObject({
    phase: 'Failed',
    reason: 'StartDeadlineExceeded',
    failure: { category: 'Capacity', retryable: true },
  })
  await expect(patch('tj', 'late', { spec: { activeDeadlineSeconds: 200 } })).rejects.toThrow(
    'activeDeadlineSeconds is immutable',
  )
  const { rows } = await database.pool.query(
    'SELECT active_deadline_seconds AS seconds, state FROM training.jobs WHERE cr_name = $1',
    ['late'],
  )
  expect(rows).toEqual([{ seconds: 100, state: 'Failed' }])
})

test('rule 1: finished stays finished: neither another status, another spec nor a lost row starts a job again', async () => {
  await applyBoth('finished')
  await patch('tj', 'finished', { spec: { cancel: true } })
  await eventually(async () => expect(await readJob('finished')).toMatchObject({ phase: 'Cancelled' }))
  await expect(patch('tj', 'finished', { spec: { cancel: false } })).rejects.toThrow('a cancelled job stays cancelled')
  await patch('tj', 'finished', { status: { phase: 'Queued', completionTime: null } }, '--subresource=status')
  await patch('tj', 'finished', { spec: { retry: { limit: 9 } } })
  await eventually(async () => expect(await readJob('finished')).toMatchObject({ phase: 'Cancelled' }))
  const { rows } = await database.pool.query("SELECT state, attempt FROM training.jobs WHERE cr_name = 'finished'")
  expect(rows).toEqual([{ state: 'Cancelled', attempt: 0 }])
  const lost = "SELECT id FROM training.jobs WHERE cr_name = 'finished'"
  await database.pool.query(`DELETE FROM training.events WHERE job_id IN (${lost})`)
  await database.pool.query(`DELETE FROM training.jobs WHERE id IN (${lost})`)
  await patch('tj', 'finished', { spec: { retry: { limit: 8 } } })
  // By then the operator has seen it.
  await applyBoth('after-finished')
  const { rowCount } = await database.pool.query("SELECT FROM training.jobs WHERE cr_name = 'finished'")
  expect(rowCount).toBe(0)
  expect(await readJob('finished')).toMatchObject({ phase: 'Cancelled', reason: 'Cancelled' })
})

test('rule 11: restored without its status, or deleted and applied again, a finished job trains nothing', async () => {
  await applyBoth('restored')
  await patch('tj', 'restored', { spec: { cancel: true } })
  await eventually(async () => expect(await readJob('restored')).toMatchObject({ phase: 'Cancelled' }))
  const id = (await readJob('restored'))?.id
  await stack.kubectl('delete', 'tj', 'restored', '-n', namespace)
  await stack.apply(describeJob('restored'))
  await eventually(async () => expect(await readJob('restored')).toMatchObject({ id, reason: 'AlreadyRan' }))
  const { rowCount } = await database.pool.query("SELECT FROM training.jobs WHERE cr_name = 'restored'")
  expect(rowCount).toBe(1)
})

test('rule 4: Ready is measured: a trainer that stops being ready shows, with its reason', async () => {
  const { items } = await readJson<{ items: Pod[] }>('get', 'pods')
  const name = items[0]?.metadata.name ?? ''
  const report = (ready: boolean, containers: object[] = []) => {
    const conditions = [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: ready ? 'True' : 'False' },
    ]
    return patch(
      'pod',
      name,
      { status: { phase: 'Running', conditions, containerStatuses: containers } },
      '--subresource=status',
    )
  }
  const readBase = async () => (await readJson<BaseModel>('get', 'bm', baseName)).status
  await report(true)
  await eventually(async () => expect(await readBase()).toMatchObject({ trainers: { ready: 1, summary: '1/1' } }))
  const crashed = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } }
  const container = { name: 'trainer', image: 'none', imageID: '', ready: false, restartCount: 3 }
  const lastState = { terminated: { exitCode: 1, reason: 'Error', message: 'no weights' } }
  const crash = () => report(false, [{ ...container, state: crashed, lastState }])
  await crash()
  await eventually(async () => expect(await readBase()).toMatchObject({ trainers: { ready: 0, summary: '0/1' } }))
  await applyBoth('crashed')
  // A status may be a minute old. The scheduler knows no node for the pod, and may say so again.
  await eventually(async () => {
    await crash()
    expect(await readJob('crashed')).toMatchObject({ reason: 'CrashLoopBackOff' })
  }, 120_000)
})

test('rule 7: the attempt of a job whose node is lost is no try, and the job says why', async () => {
  await applyBoth('unlucky')
  const { items } = await readJson<{ items: Pod[] }>('get', 'pods')
  const { name = '', uid = '' } = items[0]?.metadata ?? {}
  const conditions = [{ type: 'Ready', status: 'False', reason: null }]
  await patch('pod', name, { status: { phase: 'Running', conditions, containerStatuses: [] } }, '--subresource=status')
  await database.pool.query(
    `WITH lost AS (UPDATE training.jobs SET attempt = 1, max_attempts = 1,
       failure = '{"category": "Internal", "reason": "TrainerLost", "message": "lost", "retryable": true}'
       WHERE cr_name = 'unlucky' RETURNING id)
     INSERT INTO training.job_attempts (job_id, attempt, pod, lost_at) SELECT id, 1, $1, now() FROM lost`,
    [uid],
  )
  await eventually(async () => {
    const { rows } = await database.pool.query(
      "SELECT state, releases, failure->>'reason' AS reason FROM training.jobs WHERE cr_name = 'unlucky'",
    )
    expect(rows).toEqual([{ state: 'Queued', releases: 1, reason: 'NodeFailure' }])
  })
  await eventually(async () =>
    expect(await readJob('unlucky')).toMatchObject({
      phase: 'Queued',
      message: expect.stringContaining('NodeFailure') as string,
    }),
  )
})

/** Has the API server reject such writes in the namespace for which the expression is false. Returns how to end that. */
async function reject(rule: { apiGroups: string[]; operations: string[]; resources: string[] }, expression: string) {
  const name = `${namespace}-${randomUUID().slice(0, 8)}`
  const policy = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } }
  await stack.apply({
    ...policy,
    kind: 'ValidatingAdmissionPolicy',
    spec: {
      matchConstraints: { resourceRules: [{ ...rule, apiVersions: ['*'] }] },
      validations: [{ expression, message: 'not here' }],
    },
  })
  const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } }
  await stack.apply({
    ...policy,
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: name, validationActions: ['Deny'], matchResources },
  })
  return () => stack.kubectl('delete', 'validatingadmissionpolicybinding,validatingadmissionpolicy', name)
}

async function listReasons(name: string) {
  const { items } = await readJson<{ items: { reason: string; regarding: { name: string; kind: string } }[] }>(
    'get',
    'events.events.k8s.io',
  )
  return items.filter(({ regarding }) => regarding.kind === 'TrainingJob' && regarding.name === name)
}

test('an Event comes after its status: while that is rejected, there is none', async () => {
  const rule = { apiGroups: ['trainyard.dev'], operations: ['UPDATE'], resources: ['trainingjobs/status'] }
  const allow = await reject(rule, `!object.metadata.name.startsWith('stuck')`)
  // The policy takes effect a moment after it was created.
  for (let number = 0; ; number++) {
    const name = `stuck-${number}`
    await stack.apply(describeModel(name))
    await stack.apply(describeJob(name))
    await applyBoth(`free-${number}`)
    await eventually(async () => expect(await listReasons(`free-${number}`)).toMatchObject([{ reason: 'Accepted' }]))
    if ((await readJob(name))?.phase !== 'Pending') continue
    expect(await listReasons(name)).toEqual([])
    await allow()
    await eventually(async () => expect(await listReasons(name)).toMatchObject([{ reason: 'Accepted' }]), 90_000)
    expect(await readJob(name)).toMatchObject({ phase: 'Queued' })
    break
  }
})

test('Events are written once, and rejected ones hold nothing up', async () => {
  const rule = { apiGroups: ['events.k8s.io'], operations: ['CREATE'], resources: ['events'] }
  const allow = await reject(rule, `!object.regarding.name.startsWith('mute')`)
  // The policy takes effect a moment after it was created.
  for (let number = 0; ; number++) {
    const name = `mute-${number}`
    await applyBoth(name)
    await applyBoth(`loud-${number}`)
    await eventually(async () => expect(await listReasons(`loud-${number}`)).toMatchObject([{ reason: 'Accepted' }]))
    if ((await listReasons(name)).length === 0) break
    expect(number).toBeLessThan(20)
  }
  await allow()
})

test('in the namespace of a tenant, a resource that names another entity is rejected, and reads none of its data', async () => {
  await applyBoth('private')
  const readTheirs = async <T extends Model | TrainingJob>(kind: string, name: string) =>
    (JSON.parse(await stack.kubectl('get', kind, name, '-n', tenant, '-o', 'json')) as T).status
  const inTenant = <T extends Model | TrainingJob>(resource: T): T => ({
    ...resource,
    metadata: { ...resource.metadata, namespace: tenant },
  })
  const own = describeModel('own')
  for (const model of [describeModel('private'), { ...own, spec: { ...own.spec, entity: 'theirs' } }]) {
    await stack.apply(inTenant(model))
    await stack.apply(inTenant(describeJob(model.metadata.name ?? '')))
  }
  await eventually(async () =>
    expect(await readTheirs('models.trainyard.dev', 'own')).toMatchObject({ servedName: 'theirs/tests/own' }),
  )
  await eventually(async () =>
    expect(await readTheirs<TrainingJob>('tj', 'own')).toMatchObject({ phase: 'Failed', reason: 'InputNotAllowed' }),
  )
  await eventually(async () =>
    expect(await readTheirs('models.trainyard.dev', 'private')).toMatchObject({
      reason: 'EntityNotAllowed',
      conditions: [{ type: 'Accepted', status: 'False', reason: 'EntityNotAllowed' }, {}],
    }),
  )
  expect(await readTheirs('models.trainyard.dev', 'private')).not.toHaveProperty('id')
  await eventually(async () =>
    expect(await readTheirs<TrainingJob>('tj', 'private')).toMatchObject({
      phase: 'Pending',
      reason: 'ModelNotAccepted',
    }),
  )
  const { rows } = await database.pool.query('SELECT entity, cr_name FROM training.models WHERE namespace = $1', [
    tenant,
  ])
  expect(rows).toEqual([{ entity: 'theirs', cr_name: 'own' }])
})

test('rule 9: one bad resource stops no others, and its conflict is quiet: one status, no loop', async () => {
  await stack.apply(describeModel('first', 'shared'))
  await eventually(async () => expect(await readModel('first')).toMatchObject({ servedName: 'rules/tests/shared' }))
  await stack.apply(describeModel('second', 'shared'))
  await eventually(async () => expect(await readModel('second')).toMatchObject({ reason: 'NameConflict' }))
  const readVersion = async () =>
    (await readJson<Model>('get', 'models.trainyard.dev', 'second')).metadata.resourceVersion
  const before = await readVersion()
  await stack.apply(describeModel('third'))
  await eventually(async () => expect(await readModel('third')).toMatchObject({ servedName: 'rules/tests/third' }))
  expect(await readVersion()).toBe(before)
})

test('drift is put right and counted: a job without its resource, a trainer too many, engines that somebody scaled', async () => {
  const countDrift = async (drift: string) => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return Number(new RegExp(`^trainyard_drift_total\\{case="${drift}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }
  await applyBoth('dropped')
  await stack.kubectl('delete', 'tj', 'dropped', '-n', namespace)
  const { rows } = await database.pool.query("SELECT state FROM training.jobs WHERE cr_name = 'dropped'")
  expect(rows).toEqual([{ state: 'Cancelled' }])
  expect(await countDrift('job_resource_deleted')).toBeGreaterThan(0)

  const { items } = await readJson<{ items: (Pod & { apiVersion: string; kind: string })[] }>('get', 'pods')
  const { metadata, spec } = items[0]!
  const copy = { name: 'one-more', namespace, labels: metadata.labels }
  await stack.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: copy,
    spec: { ...spec, schedulerName: 'nobody' },
  })
  await eventually(async () =>
    expect(
      (await readJson<{ items: Pod[] }>('get', 'pods')).items.filter((pod) => !pod.metadata.deletionTimestamp),
    ).toHaveLength(1),
  )
  expect(await countDrift('pod_unwanted')).toBe(1)

  const readReplicas = async () =>
    (await readJson<{ spec: { replicas: number } }>('get', 'deployment', `${baseName}-engine`)).spec.replicas
  await stack.kubectl('scale', 'deployment', `${baseName}-engine`, '--replicas=3', '-n', namespace)
  await eventually(async () => expect(await readReplicas()).toBe(0))
  expect(await countDrift('deployment_changed')).toBe(1)
})

test.each<[string, object, object]>([
  ['config', { learningRate: 1e-5 }, { learningRate: 2e-5 }],
  ['startDeadlineSeconds', { value: 10 }, { value: 20 }],
  ['activeDeadlineSeconds', { value: 10 }, { value: 20 }],
  ['priority', { value: 1 }, { value: 2 }],
  ['queueName', { value: 'a' }, { value: 'b' }],
  ['priorityClassName', { value: 'a' }, { value: 'b' }],
  ['mode', { value: 'Dedicated' }, { value: 'Warm' }],
])('rule 10: %s of a job is neither changed, added nor removed', async (field, one, other) => {
  const [first, second] = [one, other].map((given) => ('value' in given ? given.value : given))
  const name = `fixed-${field.toLowerCase()}`
  const job = describeJob(name)
  const withIt = { ...job.spec, mode: 'Dedicated' as const, [field]: first }
  await stack.apply({ ...job, spec: withIt })
  const isRejected = (change: unknown, of = name) =>
    expect(patch('tj', of, { spec: { [field]: change } })).rejects.toThrow(`${field} is immutable`)
  await isRejected(second)
  await isRejected(null)
  const { [field]: _, ...without } = withIt as Record<string, unknown>
  await stack.apply({ ...job, metadata: { name: `${name}-0`, namespace }, spec: without as TrainingJob['spec'] })
  await isRejected(field === 'mode' ? 'Warm' : first, `${name}-0`)
})

test('rule 9: the names of all children have at most 63 characters, also of the longest base model', async () => {
  const { items } = await readJson<{ items: Pod[] }>('get', 'pods,deployments.apps')
  expect(items.length).toBeGreaterThanOrEqual(2)
  const long = items.filter(({ metadata }) => (metadata.name ?? '').length > 63)
  expect(long.map(({ metadata }) => metadata.name)).toEqual([])
})
