import { expect, test } from 'vitest'
import { listLacking, type Schema } from './compare.ts'

const needed: Schema = {
  properties: {
    phase: { enum: ['Queued', 'Running'] },
    names: { items: { properties: { first: {} } }, maxItems: 16 },
    labels: { additionalProperties: { maxLength: 63 } },
  },
}

const cases: [string, Schema, string[]][] = [
  ['the same schema', needed, []],
  [
    'a later schema',
    {
      properties: {
        phase: { enum: ['Running', 'Queued', 'Done'] },
        names: { items: { properties: { first: {}, last: {} } }, maxItems: 32 },
        labels: { additionalProperties: {} },
        added: {},
      },
    },
    [],
  ],
  ['a schema without fields', {}, ['spec.phase', 'spec.names', 'spec.labels']],
  [
    'an earlier schema',
    {
      properties: {
        phase: { enum: ['Queued'] },
        names: { items: {}, maxItems: 8 },
        labels: { additionalProperties: { maxLength: 32 } },
      },
    },
    ['spec.phase=Running', 'spec.names', 'spec.names[].first', 'spec.labels.*'],
  ],
]

test.each(cases)('%s', (_, present, lacking) => {
  expect(listLacking(needed, present, 'spec')).toEqual(lacking)
})
