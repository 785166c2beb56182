import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { killPart } from '../support/kill.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { useModelRows } from '../support/use-model-rows.ts'

const stack = useStack()
const rest = createRest(stack)
const rows = useModelRows(stack)
const { pool } = rows

const modelPath = (id: string) => `/v1/preview/models/${id}`
const repeat = (retry: number, url: string) =>
  fetch(stack.url + url, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${stack.apiKey}`, 'x-stainless-retry-count': String(retry) },
  })
const resourceOf = (id: string, kind = 'models.trainyard.dev') =>
  stack.kubectl('get', kind, '-l', `trainyard.dev/id=${id}`, '-o', 'name').then((names) => names.trim())

test('a deleted model is hidden at once, and its resource, jobs and files are removed soon', async () => {
  const model = await rest.createModel()
  const checkpoints = [await rows.addCheckpoint(model.id, 1), await rows.addCheckpoint(model.id, 2)]
  const jobId = await rest.startJob(model.id, [])
  await eventually(async () => expect(await resourceOf(jobId, 'trainingjobs')).not.toBe(''))

  const answer = await rest.call('DELETE', modelPath(model.id))
  expect(answer).toEqual({ model_id: model.id, deleted_checkpoints: 2, deleted_run: true })
  expect((await rest.send('GET', modelPath(model.id))).status).toBe(404)
  expect((await rest.send('GET', `${modelPath(model.id)}/checkpoints`)).status).toBe(404)
  const { data } = await rest.call<{ data: { id: string }[] }>('GET', '/v1/models')
  expect(data.map(({ id }) => id)).not.toContain(`${model.entity}/tests/${model.name}`)
  const chat = { model: model.address, messages: [{ role: 'user', content: 'x' }] }
  expect((await rest.send('POST', '/v1/chat/completions', chat)).status).toBe(404)
  const events = await rest.listEvents(jobId)
  expect(events.at(-1)).toMatchObject({ type: 'training_failed', data: { error_message: 'cancelled' } })

  await eventually(async () => {
    expect(await resourceOf(model.id)).toBe('')
    expect(await resourceOf(jobId, 'trainingjobs')).toBe('')
    for (const id of checkpoints) expect(existsSync(rows.folderOf(id))).toBe(false)
    expect(await rows.readModel(model.id)).toMatchObject({ cleared: true })
  })
})

test('the name of a deleted model is free: the new one has another id and no steps', async () => {
  const model = await rest.createModel()
  await rows.addCheckpoint(model.id, 1)
  await rest.call('DELETE', modelPath(model.id))
  const again = await rest.createModel(model.name)
  expect(again.id).not.toBe(model.id)
  expect(again).toMatchObject({ name: model.name, latest_step: 0 })
  await eventually(async () => expect(await resourceOf(again.id)).not.toBe(''))
  expect(await rest.listCheckpoints(again.id)).toEqual([])
})

test('a second deletion is a 404, but the retry of a client that lost the answer succeeds', async () => {
  const model = await rest.createModel()
  const first = await rest.call('DELETE', modelPath(model.id))
  expect((await rest.send('DELETE', modelPath(model.id))).status).toBe(404)
  expect((await repeat(0, modelPath(model.id))).status).toBe(404)
  const retried = await repeat(1, modelPath(model.id))
  expect([retried.status, await retried.json()]).toEqual([200, first])
  await pool.query(`UPDATE training.deletions SET created_at = now() - interval '11 minutes'`)
  expect((await repeat(1, modelPath(model.id))).status).toBe(404)
})

test('of many concurrent deletions one finds the model', async () => {
  const model = await rest.createModel()
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async () => (await rest.send('DELETE', modelPath(model.id))).status),
  )
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 9 }, () => 404)])
})

test('a model that is deleted while it is published gets no visible step', async () => {
  const model = await rest.createModel()
  const jobId = await rows.addJob(model.id, 'Running')
  await rows.addCheckpoint(model.id, 1, { jobId })
  await pool.query(`UPDATE training.jobs SET state = 'Publishing' WHERE id = $1`, [jobId])
  await rest.call('DELETE', modelPath(model.id))
  expect(await rows.readJob(jobId)).toEqual({ state: 'Cancelled' })
})

test('reports of a trainer for a deleted model are rejected, and its files are removed', async () => {
  const model = await rest.createModel()
  const jobId = await rows.addJob(model.id, 'Running')
  const checkpointId = randomUUID()
  await pool.query('UPDATE training.jobs SET checkpoint_id = $2, step = 1 WHERE id = $1', [jobId, checkpointId])
  await rows.writeFiles(checkpointId)
  await rest.call('DELETE', modelPath(model.id))
  expect(await rows.readJob(jobId)).toEqual({ state: 'Cancelled' })
  await eventually(() => expect(existsSync(rows.folderOf(checkpointId))).toBe(false))
})

test('a payload is removed with the last model that was trained on it', async () => {
  const [one, other] = [await rest.createModel(), await rest.createModel()]
  const key = `payloads/${one.entity}/${createHash('sha256').update(randomUUID()).digest('hex')}.json`
  const file = path.join(stack.artifacts, key)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, '{}')
  for (const model of [one, other]) await rows.addJob(model.id, 'Succeeded', `artifact:///${key}`)
  await rest.call('DELETE', modelPath(one.id))
  await eventually(async () => expect(await rows.readModel(one.id)).toMatchObject({ cleared: true }))
  expect(existsSync(file)).toBe(true)
  await rest.call('DELETE', modelPath(other.id))
  await eventually(() => expect(existsSync(file)).toBe(false))
})

test('rows except tombstones are removed after clients had time to read them', async () => {
  const model = await rest.createModel()
  const jobId = await rest.startJob(model.id, [])
  await rest.call('DELETE', modelPath(model.id))
  await eventually(async () => expect(await rows.readModel(model.id)).toMatchObject({ cleared: true }))
  expect(await rest.listEvents(jobId)).toHaveLength(1)
  await pool.query(`UPDATE training.models SET deleted_at = now() - interval '11 minutes' WHERE id = $1`, [model.id])
  await eventually(async () => expect(await rows.readModel(model.id)).toMatchObject({ purged: true }))
  const { rows: events } = await pool.query('SELECT FROM training.events WHERE job_id = $1', [jobId])
  expect(events).toEqual([])
})

test('an operator that is killed during a removal continues after its restart', async () => {
  const models: { id: string; checkpoints: string[] }[] = []
  for (let index = 0; index < 5; index++) {
    const model = await rest.createModel()
    models.push({
      ...model,
      checkpoints: [await rows.addCheckpoint(model.id, 1), await rows.addCheckpoint(model.id, 2)],
    })
  }
  await Promise.all(models.map(({ id }) => rest.call('DELETE', modelPath(id))))
  await eventually(() => expect(models.some((model) => !existsSync(rows.folderOf(model.checkpoints[0]!)))).toBe(true))
  await killPart(stack, 'operator')
  await eventually(async () => {
    for (const { id, checkpoints } of models) {
      for (const checkpoint of checkpoints) expect(existsSync(rows.folderOf(checkpoint))).toBe(false)
      expect(await rows.readModel(id)).toMatchObject({ cleared: true })
      expect(await resourceOf(id)).toBe('')
    }
  })
})

const resource = (name: string, spec: object) => ({
  apiVersion: 'trainyard.dev/v1alpha1',
  kind: 'Model',
  metadata: { name },
  spec: { entity: 'kubectl', project: 'tests', name, baseModelRef: { name: 'tiny-chat' }, ...spec },
})
const idOf = (name: string) => stack.kubectl('get', 'models.trainyard.dev', name, '-o', 'jsonpath={.status.id}')

test.each(['Retain', 'Delete'])(
  'a resource with the policy %s does that when it is deleted',
  async (deletionPolicy) => {
    const name = `policy-${randomUUID().slice(0, 8)}`
    await stack.apply(resource(name, { deletionPolicy }))
    const id = await eventually(async () => {
      const found = await idOf(name)
      expect(await rows.readModel(found)).toMatchObject({ policy: deletionPolicy })
      return found
    })
    const checkpoint = await rows.addCheckpoint(id, 1)
    await stack.kubectl('delete', 'models.trainyard.dev', name)
    const expected = { hidden: deletionPolicy === 'Retain', cleared: deletionPolicy === 'Delete' }
    await eventually(async () => expect(await rows.readModel(id)).toMatchObject(expected))
    expect(existsSync(rows.folderOf(checkpoint))).toBe(deletionPolicy === 'Retain')
    await stack.apply(resource(name, { deletionPolicy }))
    const again = await eventually(async () => {
      const found = await idOf(name)
      expect(found).not.toBe('')
      return found
    })
    expect(again === id).toBe(deletionPolicy === 'Retain')
  },
)

test('a resource that comes back for a deleted model is deleted', async () => {
  const model = await rest.createModel()
  const name = `late-${randomUUID().slice(0, 8)}`
  await rest.call('DELETE', modelPath(model.id))
  const late = resource(name, {})
  await stack.apply({ ...late, metadata: { name, labels: { 'trainyard.dev/id': model.id } } })
  await eventually(async () => expect(await resourceOf(model.id)).toBe(''))
})

test('a resource in a reserved project is rejected', async () => {
  await expect(stack.apply(resource('reserved', { project: 'Settings' }))).rejects.toThrow('reserved')
})
