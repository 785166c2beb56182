import { expect, test } from 'vitest'
import { explainNotReady, type ReplicaState } from './readiness.ts'

const cannotList = 'cannot list Model: forbidden'
const namespaceTrouble = 'the namespace belongs to another installation'
const cases: [string, Partial<ReplicaState>, string | undefined][] = [
  ['has older definitions', { crdTrouble: 'older', isMigrated: false }, 'older'],
  [
    'waits for its database',
    { isMigrated: false, lease: 'unknown', watchTrouble: cannotList, namespaceTrouble },
    'the database is not migrated yet',
  ],
  [
    'waits for its store',
    { isMigrated: true, storeTrouble: 'no key', lease: 'unknown', watchTrouble: cannotList, namespaceTrouble },
    'no key',
  ],
  [
    'does not know who leads',
    { isMigrated: true, lease: 'unknown', watchTrouble: cannotList, namespaceTrouble },
    'kube-apiserver has not answered who holds the Lease',
  ],
  ['stands by', { isMigrated: true, lease: 'held', watchTrouble: cannotList, namespaceTrouble }, undefined],
  [
    'leads and cannot list a kind',
    { isMigrated: true, lease: 'ours', watchTrouble: cannotList, namespaceTrouble },
    cannotList,
  ],
  [
    'holds the Lease of a foreign namespace',
    { isMigrated: true, lease: 'ours', watchTrouble: undefined, namespaceTrouble },
    namespaceTrouble,
  ],
  ['leads', { isMigrated: true, lease: 'ours', watchTrouble: undefined, namespaceTrouble: undefined }, undefined],
]

const nothing = {
  isMigrated: true,
  storeTrouble: undefined,
  crdTrouble: undefined,
  watchTrouble: undefined,
  namespaceTrouble: undefined,
  lease: 'ours',
} as const

test.each(cases)('a replica that %s', (_, state, expected) => {
  expect(explainNotReady({ ...nothing, ...state })).toBe(expected)
})
