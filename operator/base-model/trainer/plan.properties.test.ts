import fc from 'fast-check'
import { expect, test } from 'vitest'
import { labels } from '../../../crds/names.ts'
import type { Pod } from '../../../lib/kube/objects.ts'
import { chooseCases } from '../../../test/support/random-cases.ts'
import { isDead } from './failed-trainers.ts'
import { planTrainers, type TrainerAction, type TrainerFacts } from './plan.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
// A node that is lost confirms no deletion for so long.
const lostMs = 61_000

interface PodFacts {
  hash: string
  phase: string
  deletedAt: number | null
  createdAt: number
  isBusy: boolean
}

const podFacts = fc.record<PodFacts>({
  hash: fc.constantFrom('new', 'old'),
  phase: fc.constantFrom('Pending', 'Running', 'Running', 'Failed', 'Succeeded'),
  deletedAt: fc.option(fc.integer({ min: -100, max: 0 }), { nil: null }),
  createdAt: fc.integer({ min: -600, max: 0 }),
  isBusy: fc.boolean(),
})

const toTime = (seconds: number) => new Date(start + seconds * 1000).toISOString()

function makePod({ hash, phase, deletedAt, createdAt }: PodFacts, index: number): Pod {
  return {
    metadata: {
      name: `b-trainer-${hash}-${index}`,
      uid: `uid-${index}`,
      labels: { [labels.specHash]: hash },
      creationTimestamp: toTime(createdAt),
      ...(deletedAt !== null && { deletionTimestamp: toTime(deletedAt) }),
    },
    status: { phase },
  }
}

const facts: fc.Arbitrary<TrainerFacts> = fc
  .record({ pods: fc.array(podFacts, { maxLength: 6 }), wanted: fc.nat({ max: 4 }) })
  .map(({ pods, wanted }) => ({
    baseModelName: 'b',
    pods: pods.map(makePod),
    // A dead pod trains nothing.
    busyPods: new Set(pods.flatMap((pod, index) => (pod.isBusy && pod.phase === 'Running' ? [`uid-${index}`] : []))),
    wanted,
    hash: 'new',
    now: new Date(start),
  }))

/** The pods that may hold a GPU. Nobody can know it of a node that was lost. */
const listHolders = ({ pods, now }: TrainerFacts) =>
  pods.filter((pod) => {
    const deletedAt = Date.parse(pod.metadata.deletionTimestamp ?? '')
    return !isDead(pod) && !(now.getTime() - deletedAt >= lostMs)
  })

/** What the facts are after an action was executed. A deleted pod still ends. */
function execute(before: TrainerFacts, action: TrainerAction): TrainerFacts {
  const { pods, now, hash } = before
  if (action.do === 'delete') {
    const metadata = { deletionTimestamp: now.toISOString() }
    const remove = (pod: Pod) =>
      pod.metadata.uid === action.uid ? { ...pod, metadata: { ...pod.metadata, ...metadata } } : pod
    return { ...before, pods: pods.map(remove) }
  }
  const made: Pod = {
    metadata: {
      name: action.name,
      uid: `made-${action.name}-${now.getTime()}`,
      labels: { [labels.specHash]: hash },
      creationTimestamp: now.toISOString(),
    },
    status: { phase: 'Pending' },
  }
  return { ...before, pods: [...pods, made] }
}

/** Time passes, what is deleted has ended, and what was pending runs. Jobs end. */
function pass(before: TrainerFacts): TrainerFacts {
  const pods = before.pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((pod) => (pod.status?.phase === 'Pending' ? { ...pod, status: { phase: 'Running' } } : pod))
  return { ...before, pods, busyPods: new Set(), now: new Date(before.now.getTime() + 400_000) }
}

test('a busy trainer that lives is never deleted, and no name is used twice', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { actions } = planTrainers(given)
      const deleted = given.pods.filter(({ metadata }) =>
        actions.some((action) => action.do === 'delete' && action.uid === metadata.uid),
      )
      expect(deleted.filter((pod) => !isDead(pod) && given.busyPods.has(pod.metadata.uid ?? ''))).toEqual([])
      const created = actions.flatMap((action) => (action.do === 'create' ? [action.name] : []))
      const names = [...given.pods.map(({ metadata }) => metadata.name), ...created]
      expect(new Set(names).size).toBe(names.length)
    }),
    chooseCases(1_000),
  )
})

test('a trainer is made only where no other holds a GPU, after a crash between any two actions too', () => {
  fc.assert(
    fc.property(facts, fc.nat(), (given, crashAfter) => {
      let current = given
      // The operator dies after some of the actions, and plans again from what it sees. A dead pod stays until its
      // successor is there.
      for (const stop of [crashAfter % 4, Infinity, Infinity]) {
        for (const action of planTrainers(current).actions.slice(0, stop)) {
          const before = listHolders(current).length
          current = execute(current, action)
          if (action.do === 'create')
            expect(listHolders(current).length).toBeLessThanOrEqual(Math.max(before, given.wanted))
        }
      }
      expect(planTrainers(current).actions).toEqual([])
    }),
    chooseCases(1_000),
  )
})

test('when its jobs have ended, a base model has exactly the trainers that it wants, and nothing is left to do', () => {
  fc.assert(
    fc.property(facts, (given) => {
      let current = given
      for (let round = 0; round < 4; round++) {
        for (const action of planTrainers(current).actions) current = execute(current, action)
        current = pass(current)
      }
      const { actions, draining } = planTrainers(current)
      expect([actions, draining]).toEqual([[], []])
      expect(current.pods.map((pod) => pod.metadata.labels?.[labels.specHash])).toEqual(
        Array.from({ length: given.wanted }, () => 'new'),
      )
    }),
    chooseCases(1_000),
  )
})
