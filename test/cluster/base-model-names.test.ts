import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { listBaseModels } from '../../db/base-models/base-models.ts'
import { registerBaseModel } from '../../db/base-models/resources.ts'
import { insertModel } from '../../db/models/insert.ts'
import { notForked } from '../../db/models/table.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { useStack } from '../support/stack.ts'
import { describeBaseModel } from '../support/resources.ts'

const stack = useStack()
const namespace = 'trainyard'
const database = useTestDatabase()

const trainedOn = { source: { path: 'models/none' }, lora: { rank: 8 } }
const register = (crName: string, names: string[], createdAt: number) =>
  registerBaseModel(database.pool, {
    namespace,
    crName,
    names,
    isDefault: false,
    createdAt: new Date(createdAt),
    trainedOn,
    maxLoraRank: 16,
    defaultMode: 'Warm' as const,
    replacesSource: false,
  })

const readNames = async (prefix: string) => {
  const rows = (await listBaseModels(database.pool)).filter(({ crName }) => crName.startsWith(prefix))
  return Object.fromEntries(rows.map(({ crName, names }) => [crName.slice(prefix.length), names.join()]))
}

test('of base models that claim a name at the same time, the oldest has it', async () => {
  for (let round = 0; round < 10; round++) {
    const prefix = `r${round}-`
    const alias = `${prefix}alias`
    const ages = [3, 1, 2]
    const claim = () =>
      Promise.all(ages.map((age) => register(`${prefix}${age}`, [`${prefix}${age}-name`, alias], age * 1_000)))
    await claim()
    // Those that were seen before the oldest know of it at their next check.
    const conflicts = await claim()
    const lost = { taken: { name: alias, holder: `${prefix}1` } }
    expect(conflicts).toEqual([lost, undefined, lost])
    const holders = Object.entries(await readNames(prefix)).filter(([, names]) => names.includes(alias))
    expect(holders).toEqual([['1', `${prefix}1-name,${alias}`]])
  }
})

test('a younger base model loses a name and keeps the others; one without its first name is not served', async () => {
  await register('lost-young', ['lost/young', 'lost/alias', 'lost/own'], 2_000)
  await register('lost-youngest', ['lost/other'], 3_000)
  expect(await register('lost-old', ['lost/old', 'lost/alias', 'lost/other'], 1_000)).toBeUndefined()
  expect(await readNames('lost-')).toEqual({ old: 'lost/old,lost/alias,lost/other', young: 'lost/young,lost/own' })
})

test('a field that a newer schema adds does not part a base model from its models; another resource with it does', async () => {
  const wanted = {
    namespace,
    crName: 'same',
    names: ['same/base'],
    isDefault: false,
    maxLoraRank: 16,
    defaultMode: 'Warm' as const,
    replacesSource: false,
  }
  const createdAt = new Date(1_000)
  const added = { ...trainedOn, lora: { rank: 8, alpha: 16 } }
  expect(await registerBaseModel(database.pool, { ...wanted, createdAt, trainedOn })).toBeUndefined()
  await insertModel(database.pool, {
    ...notForked,
    id: randomUUID(),
    entity: 'e',
    project: 'p',
    name: 'same',
    baseModel: 'same/base',
    namespace,
    crName: 'same',
    resourceCreatedAt: null,
    keyId: null,
    retention: null,
  })
  expect(await registerBaseModel(database.pool, { ...wanted, createdAt, trainedOn: added })).toBeUndefined()
  const other = { ...wanted, createdAt: new Date(2_000), trainedOn }
  expect(await registerBaseModel(database.pool, other)).toEqual({ source: { models: 1, trainedOn: added } })
  expect(await readNames('same')).toEqual({})
  expect(await registerBaseModel(database.pool, { ...other, replacesSource: true })).toBeUndefined()
})

async function readAccepted(name: string) {
  const json = await stack.kubectl('get', 'basemodels.trainyard.dev', name, '-n', namespace, '-o', 'json')
  const { status } = JSON.parse(json) as BaseModel
  return status?.conditions?.find(({ type }) => type === 'Accepted')
}

test('of two BaseModels with one alias the older has it, and the younger gets it when it is free', async () => {
  const prefix = `names-${randomUUID().slice(0, 8)}`
  const [first, second] = [`${prefix}-a`, `${prefix}-b`]
  const remove = (...names: string[]) =>
    stack.kubectl('delete', 'basemodels.trainyard.dev', ...names, '-n', namespace, '--ignore-not-found')
  onTestFinished(async () => {
    await remove(first, second)
  })
  for (const name of [first, second]) await stack.apply(describeBaseModel(namespace, name, { names: [name, prefix] }))
  await eventually(async () => {
    expect(await readAccepted(first)).toMatchObject({ status: 'True' })
    expect(await readAccepted(second)).toMatchObject({
      status: 'False',
      reason: 'NameConflict',
      message: `BaseModel ${first} is older and has the name ${prefix}. Remove the name here, or wait until it is free.`,
    })
  })
  await remove(first)
  await eventually(async () => expect(await readAccepted(second)).toMatchObject({ status: 'True' }))
})
