import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrainingJob } from '../../crds/generated.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { eventually } from '../support/eventually.ts'
import { describeJob, describeModel, useBaseModel } from '../support/resources.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
useBaseModel(stack, 'reapplied')
const namespace = 'trainyard'
let pool: Pool
beforeAll(() => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
})
afterAll(() => pool.end())

const describeOwn = (crName: string, name: string) =>
  describeModel(namespace, crName, { name, baseModelRef: { name: 'reapplied-base' }, deletionPolicy: 'Delete' })

/** Applies a model and a job with the same name, and waits until the job has a row. */
async function applyBoth(crName: string, name: string) {
  await stack.apply(describeOwn(crName, name))
  await stack.apply(describeJob(namespace, crName))
  const job = await eventually(async () => {
    const seen = await readJob(crName)
    expect(seen.status?.phase).toBe('Queued')
    return seen
  })
  return job.status!.id!
}

async function readJob(name: string): Promise<TrainingJob> {
  return JSON.parse(await stack.kubectl('get', 'tj', name, '-n', namespace, '-o', 'json')) as TrainingJob
}

async function cancelJob(name: string): Promise<void> {
  await stack.kubectl('patch', 'tj', name, '-n', namespace, '--type=merge', '-p', '{"spec":{"cancel":true}}')
  await eventually(async () => expect((await readJob(name)).status?.phase).toBe('Cancelled'))
}

async function waitForDeletion(name: string): Promise<void> {
  await eventually(async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM training.models WHERE namespace = $1 AND cr_name = $2 AND deleted_at IS NULL AND hidden_at IS NULL`,
      [namespace, name],
    )
    expect(rowCount).toBe(0)
  })
}

test('a model that was deleted for good and made anew trains the job that is applied with it', async () => {
  const name = `anew-${randomUUID().slice(0, 8)}`
  const first = await applyBoth(name, name)
  await cancelJob(name)
  await stack.kubectl('delete', '-n', namespace, `tj/${name}`, `models.trainyard.dev/${name}`)
  await waitForDeletion(name)
  const second = await applyBoth(name, name)
  expect(second).not.toBe(first)
  await stack.kubectl('delete', '-n', namespace, `tj/${name}`, `models.trainyard.dev/${name}`)
})

test('rule 11: a finished job that is applied again trains nothing, unless its resource names another model now', async () => {
  const crName = `other-${randomUUID().slice(0, 8)}`
  const first = await applyBoth(crName, crName)
  await cancelJob(crName)
  await stack.kubectl('delete', '-n', namespace, `tj/${crName}`)
  await stack.apply(describeJob(namespace, crName))
  await eventually(async () =>
    expect((await readJob(crName)).status).toMatchObject({ id: first, reason: 'AlreadyRan' }),
  )

  await stack.kubectl('delete', '-n', namespace, `tj/${crName}`)
  await stack.kubectl('patch', 'models.trainyard.dev', crName, '-n', namespace, '--type=merge', '-p', retain)
  await eventually(async () => {
    const { rows } = await pool.query('SELECT deletion_policy FROM training.models WHERE cr_name = $1', [crName])
    expect(rows).toEqual([{ deletion_policy: 'Retain' }])
  })
  await stack.kubectl('delete', '-n', namespace, `models.trainyard.dev/${crName}`)
  await waitForDeletion(crName)
  const second = await applyBoth(crName, `${crName}-too`)
  expect(second).not.toBe(first)
  await stack.kubectl('delete', '-n', namespace, `tj/${crName}`, `models.trainyard.dev/${crName}`)
})

const retain = JSON.stringify({ spec: { deletionPolicy: 'Retain' } })
