import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import type { Model, TrainingJob } from '../../crds/generated.ts'
import { createTestDatabase, useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { nodeEnv } from '../support/node-env.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'
import { describeBaseModel, describeJob, describeModel } from '../support/resources.ts'

const stack = useStack()
const database = useTestDatabase()

async function openNamespace(): Promise<string> {
  const namespace = `lost-${randomUUID().slice(0, 8)}`
  await createNamespace(stack, namespace)
  await applyBaseModel(namespace)
  onTestFinished(async () => {
    await stripFinalizers(namespace)
    await removeNamespace(stack, namespace)
  })
  return namespace
}

const applyBaseModel = (namespace: string) =>
  stack.apply(describeBaseModel(namespace, 'base', { names: ['lost/base'] }))

async function operate(namespace: string, { databaseUrl } = database): Promise<RunningOperator> {
  const operator = await startOperator(stack, { databaseUrl, namespace })
  onTestFinished(operator.remove)
  return operator
}

const readResource = async <T>(kind: string, name: string, namespace: string) =>
  JSON.parse(await stack.kubectl('get', kind, name, '-n', namespace, '-o', 'json')) as T
const readModel = (namespace: string, name: string) => readResource<Model>('models.trainyard.dev', name, namespace)
const readJob = (namespace: string, name: string) => readResource<TrainingJob>('tj', name, namespace)

async function readRows(name: string) {
  const { rows } = await database.pool.query<{ hidden: boolean; deleted: boolean; namespace: string; job: string }>(
    `SELECT m.hidden_at IS NOT NULL AS hidden, m.deleted_at IS NOT NULL AS deleted, m.namespace, j.state AS job
     FROM training.models m LEFT JOIN training.jobs j ON j.model_id = m.id WHERE m.name = $1 ORDER BY m.created_at`,
    [name],
  )
  return rows
}

/** Applies a model and a job, and waits until both have rows. Returns their ids. */
async function applyBoth(namespace: string, name: string, spec: Partial<Model['spec']> = {}) {
  await stack.apply(describeModel(namespace, name, spec))
  await stack.apply(describeJob(namespace, name, { retry: { limit: 2 } }))
  return waitForBoth(namespace, name)
}

const waitForBoth = (namespace: string, name: string) =>
  eventually(async () => {
    const [model, job] = [await readModel(namespace, name), await readJob(namespace, name)]
    expect([model.status?.reason, job.status?.phase]).toEqual(['EngineNotReady', 'Queued'])
    return { model: model.status!.id, job: job.status!.id }
  })

/** Removes our finalizers, as an emptied etcd or a person would. */
async function stripFinalizers(namespace: string): Promise<void> {
  const names = (await stack.kubectl('get', 'models.trainyard.dev,tj', '-n', namespace, '-o', 'name')).trim()
  const patch = JSON.stringify({ metadata: { finalizers: null } })
  for (const name of names.split('\n').filter(Boolean)) {
    await stack.kubectl('patch', name, '-n', namespace, '--type=merge', '-p', patch)
  }
}

test('resources that are gone without a deletion are made again, and nothing is hidden, deleted or cancelled', async () => {
  const namespace = await openNamespace()
  const name = `emptied-${namespace}`
  const operator = await operate(namespace)
  const ids = await applyBoth(namespace, name, { deletionPolicy: 'Delete' })
  await operator.stop()
  await stripFinalizers(namespace)
  await stack.kubectl('delete', 'models.trainyard.dev,tj', '--all', '-n', namespace)
  await rejectForeign(namespace)

  await operate(namespace)
  expect(await waitForBoth(namespace, name)).toEqual(ids)
  expect((await readModel(namespace, name)).spec).toMatchObject({ deletionPolicy: 'Delete' })
  expect((await readJob(namespace, name)).spec).toMatchObject({ retry: { limit: 2 } })
  expect(await readRows(name)).toEqual([{ hidden: false, deleted: false, namespace, job: 'Queued' }])
})

/** An operator with the database of another installation does not work in our namespace. */
async function rejectForeign(namespace: string): Promise<void> {
  const other = await createTestDatabase()
  onTestFinished(other.drop)
  await other.pool.query('UPDATE training.installation SET id = gen_random_uuid()')
  const operator = await operate(namespace, other)
  await expectNotReady(operator, 'belongs to another installation')
  await operator.stop()
}

async function expectNotReady({ url }: RunningOperator, why: string): Promise<void> {
  await eventually(async () => {
    const response = await fetch(`${url}/ready`)
    const body = (await response.json()) as { not_ready?: string }
    expect([response.status, body.not_ready]).toEqual([503, expect.stringContaining(why)])
  })
}

test('in another namespace, the names of base models come along, and all resources are made again', async () => {
  await forgetHome()
  const [from, to] = [await openNamespace(), await openNamespace()]
  const name = `moved-${from}`
  const old = await operate(from)
  const ids = await applyBoth(from, name, { deletionPolicy: 'Delete' })

  const operator = await operate(to)
  await expectNotReady(operator, `works in the namespace ${from}`)
  await old.stop()
  await leaveHome()
  expect(await waitForBoth(to, name)).toEqual(ids)
  expect(await readRows(name)).toEqual([{ hidden: false, deleted: false, namespace: to, job: 'Queued' }])
})

type Names = [string, string, string]

test('a deletion while the operator is away counts, with the policy that the resource had then', async () => {
  await forgetHome()
  const namespace = await openNamespace()
  const operator = await operate(namespace)
  const [kept, purged, untouched] = ['kept', 'purged', 'untouched'].map((word) => `${word}-${namespace}`) as Names
  await applyBoth(namespace, kept, { deletionPolicy: 'Delete' })
  for (const name of [purged, untouched]) await applyBoth(namespace, name)
  await operator.stop()
  for (const [name, deletionPolicy] of [
    [kept, 'Retain'],
    [purged, 'Delete'],
  ] as const) {
    const patch = JSON.stringify({ spec: { deletionPolicy } })
    await stack.kubectl('patch', 'models.trainyard.dev', name, '-n', namespace, '--type=merge', '-p', patch)
    await stack.kubectl('delete', 'models.trainyard.dev', name, '-n', namespace, '--force', '--wait=false')
  }
  await stack.kubectl('delete', 'tj', untouched, '-n', namespace, '--wait=false')
  await operate(namespace)
  await eventually(async () => {
    expect(await readRows(kept)).toMatchObject([{ hidden: true, deleted: false }])
    expect(await readRows(purged)).toMatchObject([{ deleted: true, job: 'Cancelled' }])
    expect(await readRows(untouched)).toMatchObject([{ hidden: false, deleted: false, job: 'Cancelled' }])
    await expect(readModel(namespace, kept)).rejects.toThrow('NotFound')
    await expect(readJob(namespace, untouched)).rejects.toThrow('NotFound')
  })
})

test('rule 6: a namespace that is removed waits for nothing, and takes no model with it', async () => {
  await forgetHome()
  const namespace = await openNamespace()
  const name = `whole-${namespace}`
  const first = await operate(namespace)
  const ids = await applyBoth(namespace, name, { deletionPolicy: 'Delete' })
  await stack.kubectl('delete', 'namespace', namespace, '--timeout=60s')
  expect(await readRows(name)).toEqual([{ hidden: false, deleted: false, namespace, job: 'Queued' }])
  await first.stop()
  await leaveHome()
  await createNamespace(stack, namespace)
  await applyBaseModel(namespace)
  await operate(namespace)
  expect(await waitForBoth(namespace, name)).toEqual(ids)
})

test('rule 6: after an uninstallation, the namespace can be removed without an operator', async () => {
  await forgetHome()
  const namespace = await openNamespace()
  const name = `gone-${namespace}`
  const operator = await operate(namespace)
  await applyBoth(namespace, name, { deletionPolicy: 'Delete' })
  await operator.stop()
  const env = { ...nodeEnv, TRAINYARD_NAMESPACE: namespace, KUBECONFIG: stack.kubeconfig, LOG_LEVEL: 'fatal' }
  await promisify(execFile)(process.execPath, ['operator/uninstall/main.ts'], { env })
  await stack.kubectl('delete', 'namespace', namespace, '--timeout=60s')
  expect(await readRows(name)).toEqual([{ hidden: false, deleted: false, namespace, job: 'Queued' }])
})

/** No operator has worked for a while. */
async function leaveHome(): Promise<void> {
  await database.pool.query(`UPDATE training.installation SET operator_seen_at = now() - interval '2 minutes'`)
}

/** The database of this file has no home yet. */
async function forgetHome(): Promise<void> {
  await database.pool.query('UPDATE training.installation SET operator_namespace_uid = NULL')
  await database.pool.query('TRUNCATE training.base_models')
}
