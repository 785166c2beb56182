import { expect, test } from 'vitest'
import { omitNulls } from './omit-nulls.ts'

test('nulls count as absent, also in the members of a setting', () => {
  const logging = { enabled: true, target_training_step: null }
  const given = omitNulls({ batch_size: null, learning_rate: [0.1, 0.2], ppo: false, metric_logging: logging })
  expect(given).toEqual({ learning_rate: [0.1, 0.2], ppo: false, metric_logging: { enabled: true } })
})
