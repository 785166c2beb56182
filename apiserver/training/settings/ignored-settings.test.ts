import { expect, test } from 'vitest'
import { settingNames } from './generated.ts'
import { warnOfIgnoredSettings } from './ignored-settings.ts'

const messagesOf = (config: Record<string, unknown> | null | undefined) =>
  warnOfIgnoredSettings(config, 'SFT').map(({ code, message }) => (expect(code).toBe('setting_ignored'), message))

test.each<[string, Record<string, unknown> | null | undefined, string[]]>([
  ['nothing', undefined, []],
  ['null', null, []],
  ['an unknown setting', { note: 'mine', toString: 1, nested: { learning_rate: 1 } }, []],
  ['nulls', { learning_rate: null, epochs: null, ppo: null }, []],
  [
    'a setting of config',
    { learning_rate: 1e-3 },
    ['learning_rate in experimental_config was ignored: SFT reads it from config.'],
  ],
  [
    'two settings of config',
    { learning_rate: 1e-3, batch_size: 2 },
    ['learning_rate, batch_size in experimental_config were ignored: SFT reads them from config.'],
  ],
  [
    'epochs, and settings of RL',
    { num_epochs: 3, ppo: false, epsilon: 0 },
    [
      'num_epochs in experimental_config was ignored: SFT goes through its data once. Repeat the rows instead.',
      'ppo, epsilon in experimental_config were ignored: they are settings of RL that SFT does not have.',
    ],
  ],
])('%s', (_, config, messages) => {
  expect(messagesOf(config)).toEqual(messages)
})

test('a message about all settings fits into the limit of messages', () => {
  const messages = messagesOf(Object.fromEntries(settingNames.RL.map((name) => [name, 1])))
  for (const message of messages) expect(message.length).toBeLessThanOrEqual(500)
})
