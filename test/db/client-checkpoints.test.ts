import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { recordSource } from '../../db/base-models/sources.ts'
import { recordUntrainedAdapter } from '../../db/base-models/untrained-adapter.ts'
import { addCheckpoint, type AddedCheckpoint } from '../../db/checkpoints/add.ts'
import { findCheckpoint } from '../../db/checkpoints/checkpoints.ts'
import { saveVersionNotes } from '../../db/checkpoints/versions.ts'
import { deleteCheckpoints } from '../../db/deletion/checkpoints.ts'
import { recordCheckpoint } from '../../db/jobs/reports.ts'
import { setAlias } from '../../db/models/aliases.ts'
import { findServedModel } from '../../db/models/served.ts'
import { withTransaction } from '../../db/pool.ts'
import { referToCheckpoints } from '../../db/store/references.ts'
import { findVersionByAlias, findVersionById, listFilesOf, listVersionsOf } from '../../db/wandb/versions.ts'
import { useTestDatabase } from '../support/database.ts'
import { finishJob, withoutLeases } from '../support/leases.ts'
import { checkpointOf, TrainingRows } from '../support/training-rows.ts'

const database = useTestDatabase()

/** A model without jobs. `add` adds a checkpoint of a client with these aliases, and returns its step. */
async function makeModel() {
  const rows = new TrainingRows(database.pool)
  const modelId = await rows.addModel()
  const { rows: names } = await database.pool.query<{ name: string }>(
    'SELECT name FROM training.models WHERE id = $1',
    [modelId],
  )
  const path = { entity: rows.entity, project: 'project', name: names[0]!.name }
  const add = (steps: number[] = [], more: Partial<AddedCheckpoint> = {}) => {
    const id = more.id ?? randomUUID()
    const files = [{ path: 'adapter_config.json', size: 2, key: 'checkpoints/a/adapter_config.json', md5: '01' }]
    const stored = {
      id,
      modelId,
      uri: `artifact:///checkpoints/${id}`,
      manifestDigest: 'cd',
      bytes: 2,
      files,
      digest: 'ef',
    }
    const origin = { runName: null, clientId: null, metadata: {}, description: null }
    const added = { ...stored, ...origin, steps, aliases: [], ...more }
    return withoutLeases(database.pool, (connection) => addCheckpoint(connection, added))
  }
  const version = (alias: string) => findVersionByAlias(database.pool, path, alias)
  const list = async () => {
    const listed = await listVersionsOf(database.pool, path, { after: undefined, limit: 10, order: 'desc' })
    return listed.map(({ version: number, aliases, isLatest }) => [number, isLatest ? [...aliases, 'latest'] : aliases])
  }
  const train = async () => {
    const { claim } = await rows.train(await rows.addJob(modelId))
    await finishJob(database.pool, claim.id)
    return claim
  }
  return { rows, modelId, path, add, version, list, train }
}

test("a client's checkpoint has the number of its alias if that is above the newest, and else the next one", async () => {
  const { add, list } = await makeModel()
  expect(await add([7])).toBe(7)
  expect(await add([3])).toBe(8)
  expect(await add()).toBe(9)
  expect(await add([4, 12])).toBe(12)
  expect(await list()).toEqual([
    [3, ['step12', 'step4', 'latest']],
    [2, ['step9']],
    [1, ['step3', 'step8']],
    [0, ['step7']],
  ])
})

test('a commit that is repeated adds nothing', async () => {
  const { add, list } = await makeModel()
  const id = randomUUID()
  expect([await add([2], { id }), await add([2], { id })]).toEqual([2, 2])
  expect(await list()).toHaveLength(1)
})

test('training begins from a checkpoint of a client', async () => {
  const { add, train } = await makeModel()
  await train()
  await add([5])
  expect(await train()).toMatchObject({ step: 6, fromCheckpoint: { step: 5 } })
})

test('while a job runs, a new checkpoint gets a number above its own, and counts from the next job on', async () => {
  const { rows, modelId, add, train, version } = await makeModel()
  await train()
  const jobId = await rows.addJob(modelId)
  const first = await rows.claim()
  expect(first.claim).toMatchObject({ step: 2, fromCheckpoint: { step: 1 } })
  expect(await add([2])).toBe(3)
  // Another attempt begins from the same checkpoint.
  await rows.expireLease(jobId)
  await rows.releaseExpiredLeases()
  expect(await add([2])).toBe(4)
  const { claim, attempt } = await rows.claim()
  expect(claim).toMatchObject({ id: jobId, attempt: 2, step: 2, fromCheckpoint: { step: 1 } })
  expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('recorded')
  await finishJob(database.pool, jobId)
  expect(await version('latest')).toMatchObject({ aliases: ['step2', 'step4'] })
  expect(await version('step2')).toMatchObject({ aliases: ['step2', 'step4'] })
  expect(await train()).toMatchObject({ step: 5, fromCheckpoint: { step: 4 } })
})

test('jobs that are claimed while clients add checkpoints never have the number of one', async () => {
  const { rows, modelId, add } = await makeModel()
  for (let round = 0; round < 8; round++) {
    const jobId = await rows.addJob(modelId)
    const [{ claim, attempt }, ...added] = await Promise.all([rows.claim(), add([1 + round * 3]), add([1 + round * 3])])
    expect(added).not.toContain(claim.step)
    expect(await recordCheckpoint(database.pool, attempt, checkpointOf(claim))).toBe('recorded')
    await finishJob(database.pool, jobId)
  }
})

test('an alias stepN of another step names it for artifacts and for chats, and ends with it', async () => {
  const { modelId, path, add, train, version } = await makeModel()
  const { checkpointId } = await train()
  const own = randomUUID()
  expect(await add([1], { id: own })).toBe(2)
  const served = (step: number) => findServedModel(database.pool, path, { step, alias: null })
  expect((await version('step1'))?.id).toBe(own)
  expect(await served(1)).toMatchObject({ checkpointId: own, step: 2 })
  // Its number is still the trained one.
  expect((await findCheckpoint(database.pool, modelId, { step: 1 }))?.id).toBe(checkpointId)
  expect((await version('v0'))?.aliases).toEqual([])
  const outcome = await withoutLeases(database.pool, (connection) => deleteCheckpoints(connection, modelId, [2]))
  expect(outcome).toEqual({ deleted: [2] })
  expect((await version('step1'))?.id).toBe(checkpointId)
  expect(await served(1)).toMatchObject({ checkpointId, step: 1 })
})

test('versions keep their numbers when others are deleted, and latest is the newest that is left', async () => {
  const { modelId, add, version, list } = await makeModel()
  for (const step of [1, 2, 3]) await add([step])
  await withoutLeases(database.pool, async (connection) => {
    await setAlias(connection, modelId, 'prod', 1)
    await deleteCheckpoints(connection, modelId, [3])
  })
  expect(await list()).toEqual([
    [1, ['step2', 'latest']],
    [0, ['prod', 'step1']],
  ])
  expect(await version('v2')).toBeUndefined()
  expect(await version('prod')).toMatchObject({ version: 0 })
  expect(await version('none')).toBeUndefined()
  expect(await add()).toBe(4)
  expect(await version('latest')).toMatchObject({ version: 3, aliases: ['step4'] })
})

test('metadata and descriptions are kept, each without the other, and only its entity finds a version by its id', async () => {
  const { add, version } = await makeModel()
  const id = randomUUID()
  await add([1], { id, metadata: { a: 1 }, description: 'first' })
  const nothing = { metadata: undefined, description: undefined, tagsToAdd: [], tagsToDelete: [] }
  const save = (notes: object) => saveVersionNotes(database.pool, id, { ...nothing, ...notes })
  expect(await version('latest')).toMatchObject({ metadata: { a: 1 }, description: 'first', manifestDigest: 'ef' })
  await save({ metadata: { b: '\u0000' } })
  expect(await version('latest')).toMatchObject({ metadata: { b: '\u0000' }, description: 'first' })
  await save({ description: 'second', tagsToAdd: ['b', 'a', 'b'] })
  await save({ tagsToAdd: ['c'], tagsToDelete: ['b'] })
  expect(await version('latest')).toMatchObject({ description: 'second', tags: ['a', 'c'], size: 2, fileCount: 1 })
  expect(await findVersionById(database.pool, 'team', id)).toMatchObject({ id, version: 0, isCheckpoint: true })
  expect(await findVersionById(database.pool, 'other', id)).toBeUndefined()
})

describe('step 0', () => {
  const files = [{ path: 'adapter_config.json', size: 2, md5: '01', key: 'checkpoints/b/adapter_config.json' }]

  /** A model whose trainer has stored the adapter that training starts from. */
  async function makeStored() {
    const model = await makeModel()
    const { baseModel } = model.rows
    await withTransaction(database.pool, (connection) =>
      recordSource(connection, { name: baseModel, trainedOn: { source: {}, lora: {} }, replaces: false }),
    )
    const adapter = { uri: `artifact:///checkpoints/${randomUUID()}`, files }
    await recordUntrainedAdapter(database.pool, baseModel, adapter)
    return { ...model, adapter }
  }

  test('is the newest version of a model until it has another, and then the one before the first', async () => {
    const { modelId, train, version, list } = await makeStored()
    const stepZero = { id: modelId, isCheckpoint: true, version: -1, size: 2, aliases: ['step0'] }
    expect([await version('latest'), await version('step0')]).toMatchObject([
      { ...stepZero, isLatest: true },
      { ...stepZero, isLatest: true },
    ])
    expect(await listFilesOf(database.pool, modelId)).toEqual(files)
    await train()
    expect(await list()).toEqual([
      [0, ['step1', 'latest']],
      [-1, ['step0']],
    ])
    expect(await version('v-1')).toMatchObject({ ...stepZero, isLatest: false })
  })

  test('is a version of a client that it has named so', async () => {
    const { add, list, version } = await makeStored()
    expect(await add([0])).toBe(1)
    expect(await list()).toEqual([
      [0, ['step0', 'step1', 'latest']],
      [-1, []],
    ])
    expect(await version('step0')).toMatchObject({ version: 0 })
  })

  test('keeps its files while other trainers store others, until the base model is another', async () => {
    const { rows, adapter, version } = await makeStored()
    const { pool } = database
    const other = { uri: `artifact:///checkpoints/${randomUUID()}`, files: [{ ...files[0]!, size: 9 }] }
    await recordUntrainedAdapter(pool, rows.baseModel, other)
    expect(await version('step0')).toMatchObject({ size: 2 })
    const prefixes = [adapter, other].map(({ uri }) => uri.replace('artifact:///', ''))
    const referred = await withTransaction(pool, (connection) => referToCheckpoints(connection, prefixes))
    expect(referred.map(({ prefix, referenced, unseen }) => [prefixes.indexOf(prefix), referenced, unseen])).toEqual([
      [0, true, false],
      [1, false, true],
    ])
    await recordSource(pool, { name: rows.baseModel, trainedOn: { source: { path: 'b' }, lora: {} }, replaces: true })
    expect(await version('step0')).toBeUndefined()
  })
})
