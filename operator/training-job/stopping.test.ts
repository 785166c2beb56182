import { expect, test } from 'vitest'
import type { Pod } from '../../lib/kube/objects.ts'
import { hasDropped } from './stopping.ts'

const attempt = { pod: 'u', claimedAt: '2026-01-01T00:00:00Z', since: '2026-01-01T00:01:00Z' }
const now = new Date('2026-01-01T00:01:05Z')
const isReady = { type: 'Ready', status: 'True' }
const runs = (status: NonNullable<Pod['status']>): Pod => ({ metadata: { name: 'trainer-0', uid: 'u' }, status })
const ended = (finishedAt: string) => [{ name: 'trainer', lastState: { terminated: { exitCode: 1, finishedAt } } }]

test.each<[string, Pod | undefined, boolean]>([
  ['a trainer that runs may still compute', runs({ phase: 'Running', conditions: [isReady] }), false],
  ['a pod that is gone holds nothing', undefined, true],
  ['nor does one that has ended', runs({ phase: 'Failed' }), true],
  [
    'nor one whose container has ended since the claim',
    runs({ phase: 'Running', conditions: [isReady], containerStatuses: ended('2026-01-01T00:00:30Z') } as NonNullable<
      Pod['status']
    >),
    true,
  ],
  [
    'the end of an earlier container says nothing',
    runs({ phase: 'Running', conditions: [isReady], containerStatuses: ended('2025-12-31T23:59:00Z') } as NonNullable<
      Pod['status']
    >),
    false,
  ],
  [
    'a pod on a lost node counts as gone',
    runs({ phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }),
    true,
  ],
])('%s', (_, pod, dropped) => {
  expect(hasDropped(attempt, pod, now)).toBe(dropped)
})

test('a trainer that hangs does not keep its job for ever', () => {
  const pod = runs({ phase: 'Running', conditions: [isReady] })
  expect(hasDropped(attempt, pod, new Date('2026-01-01T00:12:00Z'))).toBe(true)
})
