import { expect, test } from 'vitest'
import { modelResource as resource, modelRow as row } from '../../test/support/model-objects.ts'
import { planModel, type ModelFacts, type ModelPlan } from './plan.ts'

const cases: [string, Partial<ModelFacts>, Partial<ModelPlan>][] = [
  ['its base model is not there', { baseModelExists: false }, { do: 'reject', reason: 'BaseModelNotFound' }],
  ['its base model is refused', { baseModel: undefined }, { do: 'reject', reason: 'BaseModelNotAccepted' }],
  ['made with kubectl', { row: undefined }, { do: 'insert', baseModel: 'trainyard/tiny' }],
  ['its row is there', {}, { do: 'accept', row }],
  ['made over REST, seen for the first time', { row: { ...row, resourceCreatedAt: null } }, { do: 'tie', id: 'm1' }],
  ['applied again after it was deleted', { row: { ...row, hiddenAt: new Date(0) } }, { do: 'tie', id: 'm1' }],
  [
    'a hidden model applied under another resource name',
    { row: { ...row, crName: 'other', hiddenAt: new Date(0) } },
    { do: 'tie', id: 'm1' },
  ],
  [
    'its deletion is to mean something else',
    { resource: { ...resource, spec: { ...resource.spec, deletionPolicy: 'Delete' } } },
    { do: 'update', id: 'm1', policies: { deletionPolicy: 'Delete', keepLoaded: false } },
  ],
  [
    'its newest step is to stay loaded',
    { resource: { ...resource, spec: { ...resource.spec, keepLoaded: true } } },
    { do: 'update', id: 'm1', policies: { deletionPolicy: 'Retain', keepLoaded: true } },
  ],
  ['its model was deleted over REST', { isDeleted: true, row: undefined }, { do: 'delete' }],
  ['its model was deleted, and made anew under the name', { isDeleted: true }, { do: 'delete' }],
  [
    'the name belongs to another resource',
    { row: { ...row, crName: 'other' } },
    { do: 'reject', reason: 'NameConflict', message: 'The name acme/mail/Email belongs to Model ns/other.' },
  ],
  [
    'its weights belong to another base model',
    { row: { ...row, baseModel: 'big', hiddenAt: new Date(0) } },
    { do: 'reject', reason: 'NameConflict' },
  ],
]

test.each(cases)('%s', (_, facts, expected) => {
  const defaults = {
    resource,
    namespace: 'ns',
    baseModelExists: true,
    baseModel: 'trainyard/tiny',
    row,
    isDeleted: false,
  }
  expect(planModel({ ...defaults, ...facts })).toMatchObject(expected)
})
