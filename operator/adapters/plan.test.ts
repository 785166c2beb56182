import { expect, test } from 'vitest'
import type { PodAdapter } from '../../db/engines/loaded-adapters.ts'
import { planAdapters, type AdapterPlan, type PodFacts } from './plan.ts'

const adapter = (id: string, more: Partial<PodAdapter> = {}): PodAdapter => ({
  id,
  modelId: id[0]!,
  error: null,
  isNewest: true,
  ageSeconds: 1,
  unusedSeconds: null,
  ...more,
})
const old = { isNewest: false }
const refused = { error: 'too much', ageSeconds: 61 }

const cases: [string, Partial<PodFacts>, Partial<AdapterPlan>][] = [
  ['nothing is wanted', {}, {}],
  ['kept steps come first', { wanted: { kept: ['k1'], inUse: ['a2'] } }, { load: ['k1', 'a2'] }],
  ['what is loaded is not loaded again', { adapters: [adapter('a2')], wanted: { kept: ['a2'], inUse: [] } }, {}],
  [
    'a kept step is loaded into a full engine, one in use is not',
    { adapters: [adapter('x1'), adapter('y1')], wanted: { kept: ['k1'], inUse: ['a2'] }, maxAdapters: 2 },
    { load: ['k1'] },
  ],
  [
    'an old step goes when the new one is there, and makes room',
    {
      adapters: [adapter('a1', old), adapter('a2')],
      wanted: { kept: [], inUse: ['a2', 'b1'] },
      maxAdapters: 2,
    },
    { unload: ['a1'], load: ['b1'] },
  ],
  ['an old step stays until the new one is there', { adapters: [adapter('a1', old)] }, {}],
  [
    'an old step stays while it is asked for',
    { adapters: [adapter('a1', { ...old, unusedSeconds: 119 }), adapter('a2')] },
    {},
  ],
  [
    'an old step goes when it is not asked for any more',
    { adapters: [adapter('a1', { ...old, unusedSeconds: 120 }), adapter('a2')] },
    { unload: ['a1'] },
  ],
  [
    'an old step stays when the new one cannot be loaded',
    { adapters: [adapter('a1', old), adapter('a2', { error: 'too much' })] },
    {},
  ],
  ['what was refused is tried again after a minute', { adapters: [adapter('a1', refused)] }, { load: ['a1'] }],
  [
    'what was refused lately is not tried again, even if it is wanted',
    { adapters: [adapter('a1', { ...refused, ageSeconds: 59 })], wanted: { kept: ['a1'], inUse: [] } },
    {},
  ],
  ['an old step that was refused is not tried again', { adapters: [adapter('a1', { ...refused, ...old })] }, {}],
  [
    'four are tried again at once, those that have waited for longest',
    { adapters: [1, 2, 3, 4, 5].map((index) => adapter(`${index}1`, { ...refused, ageSeconds: 60 + index })) },
    { load: ['51', '41', '31', '21'] },
  ],
]

test.each(cases)('%s', (_, facts, expected) => {
  const defaults: PodFacts = { adapters: [], wanted: { kept: [], inUse: [] }, maxAdapters: 4 }
  expect(planAdapters({ ...defaults, ...facts })).toEqual({ unload: [], load: [], ...expected })
})
