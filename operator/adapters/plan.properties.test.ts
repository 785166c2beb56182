import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PodAdapter } from '../../db/engines/loaded-adapters.ts'
import { chooseCases } from '../../test/support/random-cases.ts'
import { planAdapters, type AdapterPlan, type PodFacts } from './plan.ts'

interface ModelFacts {
  /** Whether the engine has said something of its newest and of its old step. */
  newest: 'loaded' | 'rejected' | 'unknown'
  old: 'loaded' | 'rejected' | 'unknown'
  use: 'kept' | 'inUse' | 'none'
  ageSeconds: number
  unusedSeconds: number | null
}

const state = fc.constantFrom<ModelFacts['newest']>('loaded', 'rejected', 'unknown')

const modelFacts = fc.record<ModelFacts>({
  newest: state,
  old: state,
  use: fc.constantFrom('kept', 'inUse', 'none'),
  ageSeconds: fc.nat({ max: 200 }),
  unusedSeconds: fc.option(fc.nat({ max: 300 }), { nil: null }),
})

function describeAdapters(model: ModelFacts, index: number): PodAdapter[] {
  const { ageSeconds, unusedSeconds } = model
  return (['newest', 'old'] as const).flatMap((step) =>
    model[step] === 'unknown'
      ? []
      : [
          {
            id: `m${index}-${step}`,
            modelId: `m${index}`,
            error: model[step] === 'rejected' ? 'too much' : null,
            isNewest: step === 'newest',
            ageSeconds,
            unusedSeconds,
          },
        ],
  )
}

const facts: fc.Arbitrary<PodFacts> = fc
  .record({ models: fc.array(modelFacts, { maxLength: 8 }), maxAdapters: fc.integer({ min: 1, max: 6 }) })
  .map(({ models, maxAdapters }) => {
    const pick = (use: string, max: number) =>
      models.flatMap((model, index) => (model.use === use ? [`m${index}-newest`] : [])).slice(0, max)
    const kept = pick('kept', Math.ceil(maxAdapters / 2))
    return {
      adapters: models.flatMap(describeAdapters),
      wanted: { kept, inUse: pick('inUse', maxAdapters - kept.length) },
      maxAdapters,
    }
  })

/** What the engine has after these loads and unloads. */
function execute(before: PodFacts, { load, unload }: AdapterPlan): PodFacts {
  const stays = ({ id }: PodAdapter) => !unload.includes(id) && !load.includes(id)
  const loaded = load.map((id) => {
    const modelId = id.split('-')[0] ?? ''
    return { id, modelId, error: null, isNewest: true, ageSeconds: 0, unusedSeconds: 0 }
  })
  return { ...before, adapters: [...before.adapters.filter(stays), ...loaded] }
}

test('no newest step is unloaded, and nothing is loaded that is there', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { load, unload } = planAdapters(given)
      const loaded = given.adapters.filter(({ error }) => error === null)
      expect(loaded.filter(({ id, isNewest }) => isNewest && unload.includes(id))).toEqual([])
      expect(loaded.filter(({ id }) => load.includes(id))).toEqual([])
      expect(new Set(load).size).toBe(load.length)
    }),
    chooseCases(1_000),
  )
})

test('a crash after any load or unload is safe: the next plans end at the same adapters, and then do nothing', () => {
  const settle = (from: PodFacts) => {
    let current = from
    for (let round = 0; round < 6; round++) current = execute(current, planAdapters(current))
    expect(planAdapters(current)).toEqual({ load: [], unload: [] })
    return current.adapters
      .filter(({ error }) => error === null)
      .map(({ id }) => id)
      .toSorted()
  }
  // Without rejected ones: of these, a plan tries a few again at a time.
  const usable = facts.map((given) => ({ ...given, adapters: given.adapters.filter(({ error }) => error === null) }))
  fc.assert(
    fc.property(usable, fc.nat(), (given, at) => {
      const { load, unload } = planAdapters(given)
      const actions = [
        ...unload.map((id) => ({ load: [], unload: [id] })),
        ...load.map((id) => ({ load: [id], unload: [] })),
      ]
      const crashed = actions.slice(0, at % (actions.length + 1)).reduce(execute, given)
      expect(settle(crashed)).toEqual(settle(given))
    }),
    chooseCases(1_000),
  )
})

test('steps that are only in use displace nothing: they fit into what the engine keeps in memory', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const { load, unload } = planAdapters(given)
      const { adapters, wanted, maxAdapters } = given
      const count = adapters.filter(({ error }) => error === null).length - unload.length
      const known = new Set(adapters.map(({ id }) => id))
      const isNew = (id: string) => load.includes(id) && !known.has(id)
      const used = wanted.inUse.filter(isNew).length
      if (used > 0) expect(count + wanted.kept.filter(isNew).length + used).toBeLessThanOrEqual(maxAdapters)
    }),
    chooseCases(1_000),
  )
})
