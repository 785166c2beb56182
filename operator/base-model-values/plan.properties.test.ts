import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BaseModel } from '../../crds/generated.ts'
import { labels, madeFromValues } from '../../crds/names.ts'
import type { ConfigMap } from '../../lib/kube/objects.ts'
import { chooseCases } from '../../test/support/random-cases.ts'
import { planValues } from './plan.ts'

const name = fc.constantFrom('a', 'b', 'c', 'd')

const values: fc.Arbitrary<ConfigMap> = fc
  .dictionary(name, fc.constant('{"names": ["a/b"]}'))
  .map((data) => ({ metadata: { name: 'values', namespace: 'ns', uid: 'u' }, data }))

const present: fc.Arbitrary<BaseModel[]> = fc.uniqueArray(
  fc.record({ name, isOurs: fc.boolean() }).map(
    ({ name: found, isOurs }) =>
      ({
        metadata: { name: found, ...(isOurs && { labels: { [labels.madeFrom]: madeFromValues } }) },
      }) as unknown as BaseModel,
  ),
  { selector: ({ metadata }) => metadata.name },
)

const nameOf = ({ metadata }: { metadata: { name?: string } }) => metadata.name

test('after a crash between any two actions, the next plan ends at the base models of the values, and keeps others', () => {
  fc.assert(
    fc.property(values, present, fc.nat(), (given, before, at) => {
      const { apply, remove } = planValues(given, before)
      const isOthers = ({ metadata }: BaseModel) => metadata.labels?.[labels.madeFrom] === undefined
      expect(remove.filter(isOthers)).toEqual([])
      const steps = [
        ...apply.map((object) => (found: BaseModel[]) => [
          ...found.filter((each) => nameOf(each) !== nameOf(object)),
          object as unknown as BaseModel,
        ]),
        ...remove.map((gone) => (found: BaseModel[]) => found.filter((each) => each !== gone)),
      ]
      const crashed = steps.slice(0, at % (steps.length + 1)).reduce((found, step) => step(found), before)
      const next = planValues(given, crashed)
      const after = [
        ...crashed.filter(
          (each) => !next.remove.includes(each) && !next.apply.some((made) => nameOf(made) === nameOf(each)),
        ),
        ...next.apply,
      ]
      const wanted = new Set([...Object.keys(given.data ?? {}), ...before.filter(isOthers).map(nameOf)])
      expect(new Set(after.map(nameOf))).toEqual(wanted)
      expect(planValues(given, after as BaseModel[]).remove).toEqual([])
    }),
    chooseCases(500),
  )
})
