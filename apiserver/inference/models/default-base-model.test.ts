import { expect, test } from 'vitest'
import { pickDefaultBaseModel } from './default-base-model.ts'

const row = (name: string, isDefault: boolean, day: number) => ({ name, isDefault, createdAt: new Date(2026, 0, day) })

test.each([
  ['none if there are none', [], undefined],
  ['the only one', [row('a', false, 1)], 'a'],
  ['none of two that are not marked as default', [row('a', false, 1), row('b', false, 2)], undefined],
  ['the one that is marked as default', [row('a', false, 1), row('b', true, 2)], 'b'],
  ['the older of two that are marked as default', [row('a', true, 2), row('b', true, 1)], 'b'],
  ['the first by name of two with the same creation time', [row('b', true, 1), row('a', true, 1)], 'a'],
])('a chat without a model gets %s', (_, baseModels, name) => {
  expect(pickDefaultBaseModel(baseModels)?.name).toBe(name)
})
