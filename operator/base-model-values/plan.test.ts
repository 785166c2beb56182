import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { planValues } from './plan.ts'

const spec = { names: ['org/one'], source: { path: 'one' } }
const values = {
  metadata: { name: 'trainyard-base-models', namespace: 'a', uid: 'u' },
  data: { one: JSON.stringify(spec) },
}

const makeBaseModel = (name: string, labels?: Record<string, string>): BaseModel => ({
  metadata: { name, ...(labels && { labels }) },
  spec: { names: [name], source: { path: name } },
})

test('each key becomes a BaseModel that goes with the ConfigMap', () => {
  expect(planValues(values, [])).toEqual({
    apply: [
      {
        apiVersion: 'trainyard.dev/v1alpha1',
        kind: 'BaseModel',
        metadata: {
          name: 'one',
          namespace: 'a',
          labels: { 'trainyard.dev/made-from': 'values' },
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'trainyard-base-models', uid: 'u' }],
        },
        spec,
      },
    ],
    remove: [],
  })
})

test('of those without a key, only the ones that were made from values are removed', () => {
  const made = makeBaseModel('two', { 'trainyard.dev/made-from': 'values' })
  const others = [
    makeBaseModel('one', { 'trainyard.dev/made-from': 'values' }),
    makeBaseModel('by-hand'),
    makeBaseModel('by-request', { 'trainyard.dev/made-from': 'defaults' }),
  ]
  expect(planValues(values, [made, ...others]).remove).toEqual([made])
  const { data: _none, ...empty } = values
  expect(planValues(empty, [made]).remove).toEqual([made])
})
