import fc from 'fast-check'
import { expect, test } from 'vitest'
import { annotations, labels } from '../../../crds/names.ts'
import type { Deployment, Pod, PodStatus } from '../../../lib/kube/objects.ts'
import { chooseCases } from '../../../test/support/random-cases.ts'
import { isRollingOut, planRollingUpdate, RolloutTurns, type RolloutFacts } from './rollout.ts'

const now = new Date('2026-01-01T01:00:00Z')
const [longAgo, justNow] = ['2026-01-01T00:58:59Z', '2026-01-01T00:59:30Z']
const oneByOne = { maxSurge: 0, maxUnavailable: 1 }
const oneMore = { maxSurge: 1, maxUnavailable: 0 }

const pod = (hash: string, status: PodStatus): Pod => ({ metadata: { labels: { [labels.specHash]: hash } }, status })
const ready = (hash: string) => pod(hash, { conditions: [{ type: 'Ready', status: 'True' }] })
const unscheduled = (hash: string, lastTransitionTime: string) =>
  pod(hash, { conditions: [{ type: 'PodScheduled', status: 'False', lastTransitionTime }] })

/** A Deployment whose pods have this hash. */
const deployed = (hash: string, more: { at?: string; replicas?: number; failedAt?: string } = {}): Deployment => ({
  metadata: { annotations: { [annotations.rolledOutAt]: more.at ?? justNow } },
  spec: { replicas: more.replicas ?? 1, template: { metadata: { labels: { [labels.specHash]: hash } } } },
  ...(more.failedAt !== undefined && {
    status: { conditions: [{ type: 'ReplicaFailure', status: 'True', lastTransitionTime: more.failedAt }] },
  }),
})

test.each<[string, Partial<RolloutFacts>, typeof oneMore]>([
  ['several engines are replaced one after the other', { replicas: 2 }, oneByOne],
  ['a single engine gets its successor beside it', {}, oneMore],
  ['so does the first one', { pods: [], deployment: undefined }, oneMore],
  [
    'a successor that no node takes waits for a while',
    { deployment: deployed('new'), pods: [ready('old'), unscheduled('new', justNow)] },
    oneMore,
  ],
  [
    'and then the old engine makes room',
    { deployment: deployed('new'), pods: [ready('old'), unscheduled('new', longAgo)] },
    oneByOne,
  ],
  ['an old engine that no node takes is no successor', { pods: [unscheduled('old', longAgo)] }, oneMore],
  [
    'a successor that is rejected for a while (a quota) gets room too',
    { deployment: deployed('new', { failedAt: longAgo }), pods: [ready('old')] },
    oneByOne,
  ],
  [
    'a rejection of the old specification says nothing about the successor',
    { deployment: deployed('old', { failedAt: longAgo }), pods: [] },
    oneMore,
  ],
])('%s', (_, facts, expected) => {
  const defaults: RolloutFacts = { replicas: 1, deployment: deployed('old'), pods: [ready('old')], hash: 'new', now }
  expect(planRollingUpdate({ ...defaults, ...facts })).toEqual(expected)
})

const condition = (type: string) =>
  fc.record({
    type: fc.constant(type),
    status: fc.constantFrom('True', 'False'),
    lastTransitionTime: fc.constantFrom(longAgo, justNow),
  })
const randomPod = fc
  .tuple(fc.constantFrom('new', 'old'), fc.array(fc.oneof(condition('PodScheduled'), condition('Ready'))))
  .map(([hash, conditions]) => pod(hash, { conditions }))
const randomFacts: fc.Arbitrary<RolloutFacts> = fc.record({
  replicas: fc.nat(3),
  deployment: fc.option(
    fc
      .tuple(fc.constantFrom('new', 'old'), fc.array(condition('ReplicaFailure')))
      .map(([hash, conditions]) => ({ ...deployed(hash), status: { conditions } })),
    { nil: undefined },
  ),
  pods: fc.array(randomPod, { maxLength: 4 }),
  hash: fc.constant('new'),
  now: fc.constant(now),
})

test('whatever is there, a roll-out goes on, and a single engine ends first only for a successor that has found no room', () => {
  fc.assert(
    fc.property(randomFacts, (facts) => {
      const plan = planRollingUpdate(facts)
      // With neither, Kubernetes would replace nothing.
      expect(plan.maxSurge + plan.maxUnavailable).toBe(1)
      if (facts.replicas > 1 || plan.maxUnavailable === 0) return
      const waits = JSON.stringify([facts.pods, facts.deployment?.status ?? null]).includes(longAgo)
      expect(waits).toBe(true)
    }),
    chooseCases(500),
  )
})

test.each<[string, Deployment | undefined, Pod[], boolean]>([
  ['no Deployment', undefined, [], false],
  ['all are Ready', deployed('new'), [ready('new')], false],
  ['the successor is not there yet', deployed('new'), [ready('old')], true],
  ['one of two is Ready', deployed('new', { replicas: 2 }), [ready('new'), ready('old')], true],
  ['none are wanted', deployed('new', { replicas: 0 }), [], false],
  ['it has had its time', deployed('new', { at: '2026-01-01T00:29:59Z' }), [ready('old')], false],
])('whether the engines are being replaced: %s', (_, deployment, pods, expected) => {
  expect(isRollingOut({ deployment, pods, now })).toBe(expected)
})

test('one base model after the other has its turn, also before the watch has seen the first', () => {
  const turns = new RolloutTurns()
  const answers = [turns.begin('a', 'x'), turns.begin('b', undefined), turns.begin('c', undefined)]
  expect(answers).toEqual(['x', undefined, 'b'])
  expect(turns.begin('b', undefined)).toBeUndefined()
})
