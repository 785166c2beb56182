import { expect, test } from 'vitest'
import { listSettings } from './settings.ts'

const known = [
  { name: 'epsilon', description: 'a bound', defaultValue: '1' },
  { name: 'ppo', description: 'a loss', defaultValue: 'false' },
]

test('settings of the request come first, and the others have their defaults', () => {
  const settings = listSettings(known, { ppo: true, epsilon: null, new_setting: [1, 2] })
  expect(settings.map(({ name, value, isGiven }) => [name, value, isGiven])).toEqual([
    ['ppo', 'true', true],
    ['new_setting', '[1,2]', true],
    ['epsilon', '1', false],
  ])
})
