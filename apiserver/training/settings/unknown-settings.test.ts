import { expect, test } from 'vitest'
import { rejectWrongNames, warnOfUnknownSettings } from './unknown-settings.ts'

const unknown = (member: string, text: string) => [{ code: 'setting_unknown', message: `${member} has ${text}` }]

test.each<[object | null | undefined, string]>([
  [{ future_setting: 1 }, 'a setting that is not known here and had no effect: future_setting.'],
  [{ one_more: 'x', ppo: true, another: 0 }, 'settings that are not known here and had no effect: one_more, another.'],
])('%j is a warning that names what is unknown', (config, text) => {
  expect(() => rejectWrongNames(config, 'RL')).not.toThrow()
  expect(warnOfUnknownSettings(config, 'RL')).toEqual(unknown('experimental_config', text))
})

test.each<[object | null | undefined]>([
  [undefined],
  [null],
  [{}],
  [{ future_setting: null, other_setting: false }],
  [{ kl_ref_adapter_path: null, ppo: false, batch_size: null }],
])('%j has no warning', (config) => {
  expect(() => rejectWrongNames(config, 'RL')).not.toThrow()
  expect(warnOfUnknownSettings(config, 'RL')).toEqual([])
})

test('unknown settings of SFT, and unknown members of a setting, are warnings too', () => {
  const config = { seed: 3, metric_logging: { enabled: true, run: 'a', note: null } }
  expect(() => rejectWrongNames(config, 'SFT')).not.toThrow()
  expect(warnOfUnknownSettings(config, 'SFT')).toEqual(
    unknown('config', 'settings that are not known here and had no effect: seed, metric_logging.run.'),
  )
})

test('a name that other objects have is unknown', () => {
  const config = JSON.parse('{"__proto__":{"ppo":1},"constructor":1}') as object
  expect(warnOfUnknownSettings(config, 'RL')).toEqual(
    unknown('experimental_config', 'settings that are not known here and had no effect: __proto__, constructor.'),
  )
})

test.each<[string, unknown, string]>([
  ['learning_rte', 1, 'this is not a setting. Did you mean learning_rate?'],
  ['Learning_Rate', 1, 'this is not a setting. Did you mean learning_rate?'],
  ['scale_reward', false, 'this is not a setting. Did you mean scale_rewards?'],
  ['pp', true, 'this is not a setting. Did you mean ppo?'],
  ['batch_size', 2, 'this is a setting of SFT'],
  [
    'kl_ref_adapter_path',
    '/tmp/a',
    'it is a path on another machine: name a step of the model with kl_penalty_reference_step',
  ],
])('%s of RL is a 422 with a sentence', (name, value, reason) => {
  const detail = [{ type: 'value_error', loc: ['body', 'experimental_config', name], msg: `Value error, ${reason}` }]
  expect(() => rejectWrongNames({ [name]: value }, 'RL')).toThrow(expect.objectContaining({ detail }))
})

test.each<[string, unknown, string]>([
  ['epochs', 3, 'SFT goes through its data once. Repeat the rows instead.'],
  ['ppo', true, 'this is a setting of RL'],
  ['asistant_turns', 'last', 'this is not a setting. Did you mean assistant_turns?'],
])('%s of SFT is a 422 with a sentence', (name, value, reason) => {
  const detail = [{ type: 'value_error', loc: ['body', 'config', name], msg: `Value error, ${reason}` }]
  expect(() => rejectWrongNames({ [name]: value }, 'SFT')).toThrow(expect.objectContaining({ detail }))
})

test.each(['lr', 'epsilon_low', 'kimi_k3_tau', 'beta', 'x'.repeat(100_000)])(
  '%s is another name and no typo',
  (name) => {
    expect(() => rejectWrongNames({ [name]: 1 }, 'RL')).not.toThrow()
  },
)

test('of many unknown names, some are named', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`unknown_${index}`, 1]))
  expect(() => rejectWrongNames(many, 'RL')).not.toThrow()
  const [warning] = warnOfUnknownSettings(many, 'RL')
  expect(warning!.message).toMatch(/: unknown_0, unknown_1, .* and 199\d\d more\.$/)
  expect(warning!.message.length).toBeLessThanOrEqual(500)
})
