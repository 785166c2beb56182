import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Model } from '../../crds/generated.ts'
import { modelResource, modelRow } from '../../test/support/model-objects.ts'
import { chooseCases } from '../../test/support/random-cases.ts'
import { planModel, type ModelFacts, type ModelPlan } from './plan.ts'

const time = new Date('2026-01-01T00:00:00Z')
const policy = fc.constantFrom<'Retain' | 'Delete'>('Retain', 'Delete')
const baseModel = fc.constantFrom('trainyard/tiny', 'trainyard/other')

const resource: fc.Arbitrary<Model> = fc
  .record({ deletionPolicy: policy, keepLoaded: fc.boolean() }, { requiredKeys: [] })
  .map((policies) => ({ ...modelResource, spec: { ...modelResource.spec, ...policies } }))

const row = fc
  .record({
    baseModel,
    namespace: fc.constantFrom('ns', 'elsewhere'),
    crName: fc.constantFrom('email', 'another'),
    hiddenAt: fc.constantFrom(null, time),
    resourceCreatedAt: fc.constantFrom(null, time),
    deletionPolicy: policy,
    keepLoaded: fc.boolean(),
  })
  .map((facts) => ({ ...modelRow, ...facts }))

const facts: fc.Arbitrary<ModelFacts> = fc.record({
  resource,
  namespace: fc.constant('ns'),
  baseModelExists: fc.boolean(),
  baseModel: fc.option(baseModel, { nil: undefined }),
  row: fc.option(row, { nil: undefined }),
  isDeleted: fc.boolean(),
})

/** What the facts are after a plan was executed. */
function execute(before: ModelFacts, plan: ModelPlan): ModelFacts {
  if (plan.do === 'insert')
    return { ...before, row: { ...modelRow, baseModel: plan.baseModel, resourceCreatedAt: time } }
  if (!before.row) return before
  if (plan.do === 'tie') {
    const tied = { namespace: 'ns', crName: 'email', hiddenAt: null, resourceCreatedAt: time }
    return { ...before, row: { ...before.row, ...tied } }
  }
  return plan.do === 'update' ? { ...before, row: { ...before.row, ...plan.policies } } : before
}

const isDone = ({ do: action }: ModelPlan) => ['reject', 'accept', 'delete'].includes(action)

test('a deleted model is never made again, whatever else is true', () => {
  fc.assert(
    fc.property(facts, (given) => {
      expect(planModel({ ...given, isDeleted: true })).toEqual({ do: 'delete' })
    }),
    chooseCases(300),
  )
})

test('every model is accepted or rejected after a few actions, none of them twice', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const actions: string[] = []
      let current = given
      for (let plan = planModel(current); !isDone(plan); plan = planModel(current)) {
        actions.push(plan.do)
        // A crash here repeats the action: it does no more than once.
        const once = execute(current, plan)
        expect(execute(once, plan)).toEqual(once)
        current = once
        expect(actions.length).toBeLessThanOrEqual(3)
      }
      expect(new Set(actions).size).toBe(actions.length)
    }),
    chooseCases(1_000),
  )
})

test('a visible name never goes to another resource, and an accepted model has the base that it was trained from', () => {
  fc.assert(
    fc.property(facts, (given) => {
      let current = given
      let plan = planModel(current)
      for (; !isDone(plan); plan = planModel(current)) current = execute(current, plan)
      if (plan.do !== 'accept') return
      const { row: before } = given
      if (before?.hiddenAt === null) expect([before.namespace, before.crName]).toEqual(['ns', 'email'])
      expect(plan.row).toMatchObject({ namespace: 'ns', crName: 'email', hiddenAt: null, baseModel: given.baseModel })
      if (before) expect(before.baseModel).toBe(given.baseModel)
    }),
    chooseCases(1_000),
  )
})
