import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { useTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startOperator, type RunningOperator } from '../support/operator-process.ts'
import { useStack } from '../support/stack.ts'
import { createNamespace, removeNamespace } from '../support/namespace.ts'

const stack = useStack()
const namespace = `values-${randomUUID().slice(0, 8)}`
const database = useTestDatabase()
let operator: RunningOperator

beforeAll(async () => {
  await createNamespace(stack, namespace)
  operator = await startOperator(stack, { databaseUrl: database.databaseUrl, namespace })
})

afterAll(async () => {
  await operator.remove()
  await removeNamespace(stack, namespace)
})

const write = (specs: Record<string, object>) =>
  stack.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'trainyard-base-models', namespace },
    data: Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, JSON.stringify(spec)])),
  })

async function list(): Promise<Record<string, BaseModel>> {
  const found = await stack.kubectl('get', 'basemodels', `-n${namespace}`, '-ojson')
  const { items } = JSON.parse(found) as { items: BaseModel[] }
  return Object.fromEntries(items.map((item) => [item.metadata.name!, item]))
}

const describe = (name: string) => ({
  names: [`values/${name}`],
  source: { path: name },
  engine: { replicas: 0 },
  trainer: { warm: { min: 0 } },
})

test('the base models of the ConfigMap are made, changed, made again, and removed', async () => {
  await write({ one: describe('one'), two: describe('two') })
  await eventually(async () => expect(Object.keys(await list())).toEqual(['one', 'two']))

  await write({ one: { ...describe('one'), names: ['values/one', 'alias'] } })
  await eventually(async () => {
    const { one, ...others } = await list()
    expect(others).toEqual({})
    expect(one!.spec.names).toEqual(['values/one', 'alias'])
  })

  const { one } = await list()
  await stack.kubectl('delete', 'basemodel', 'one', `-n${namespace}`)
  await eventually(async () => {
    const again = (await list())['one']
    expect(again?.spec).toEqual(one!.spec)
    expect(again?.metadata.uid).not.toBe(one!.metadata.uid)
  })
})

test('one that is rejected is told in an Event, and does not stop the others', async () => {
  await write({ bad: { ...describe('bad'), engin: {} }, good: describe('good') })
  await eventually(async () => expect(Object.keys(await list())).toEqual(['good']))
  await eventually(async () => {
    const events = await stack.kubectl(
      'get',
      'events',
      `-n${namespace}`,
      '--field-selector=reason=BaseModelRejected',
      '-ojson',
    )
    const [event] = (JSON.parse(events) as { items: { message: string }[] }).items
    expect(event?.message).toMatch(/basemodels\/bad: .*spec\.engin/)
  })
})

test('they go with the ConfigMap, and those of others stay', async () => {
  await stack.apply({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'BaseModel',
    metadata: { name: 'by-hand', namespace },
    spec: describe('by-hand'),
  })
  await stack.kubectl('delete', 'configmap', 'trainyard-base-models', `-n${namespace}`)
  await eventually(async () => expect(Object.keys(await list())).toEqual(['by-hand']))
})
