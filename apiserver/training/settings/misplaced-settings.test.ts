import { HttpError } from '../../../lib/http/http-error.ts'
import { expect, test } from 'vitest'
import { rejectMisplacedSettings } from './misplaced-settings.ts'

const issue = (loc: string[], what: string) => ({
  loc,
  msg: `Extra inputs are not permitted; RL reads ${what} from experimental_config`,
  type: 'extra_forbidden',
})

test.each([
  ['no config', { model_id: 'm', experimental_config: { learning_rate: 1 } }],
  ['a null, and an empty config', { config: null }],
  ['an empty config', { config: {} }],
  ['nulls for settings that are not set', { config: { learning_rate: null }, ppo: null }],
  ['an unknown setting', { future: { learning_rate: 1 } }],
])('%s is accepted', (_, body) => {
  expect(() => rejectMisplacedSettings(body, 'RL', 'config')).not.toThrow()
})

test('each misplaced setting is rejected with the right path', () => {
  const body = { ppo: false, config: { learning_rate: 0, lr: 1 } }
  const detail = [
    issue(['body', 'ppo'], 'ppo'),
    issue(['body', 'config', 'learning_rate'], 'learning_rate'),
    issue(['body', 'config', 'lr'], 'its settings'),
  ]
  expect(() => rejectMisplacedSettings(body, 'RL', 'config')).toThrow(expect.objectContaining({ detail }))
  expect(() => rejectMisplacedSettings(body, 'RL', 'config')).toThrow(HttpError)
})

test('of many misplaced settings, some are named', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `x${index}`)
  const detail = names.slice(0, 100).map((name) => issue(['body', 'config', name], 'its settings'))
  const config = Object.fromEntries(names.map((name) => [name, 1]))
  expect(() => rejectMisplacedSettings({ config }, 'RL', 'config')).toThrow(expect.objectContaining({ detail }))
})
