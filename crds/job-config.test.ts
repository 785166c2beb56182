import { expect, test } from 'vitest'
import { configFromSpec, configToSpec } from './job-config.ts'

test.each<[string, Record<string, unknown>, object]>([
  ['of RL', { learning_rate: 0.1, kimi_k2_tau: 0.5 }, { learningRate: 0.1, kimiK2Tau: 0.5 }],
  [
    'of RL that the hosted service does not have',
    { kl_penalty_coef: 0.1, kl_penalty_reference_step: 3, allow_training_without_logprobs: true },
    { klPenaltyCoef: 0.1, klPenaltyReferenceStep: 3, allowTrainingWithoutLogprobs: true },
  ],
  ['of SFT', { learning_rate: 0.1, batch_size: 4 }, { learningRate: 0.1, batchSize: 4 }],
  [
    'of SFT with a rate for each batch',
    { learning_rate: [0.1, 0.2], batch_size: 4 },
    { learningRates: [0.1, 0.2], batchSize: 4 },
  ],
  [
    'of SFT with members',
    { metric_logging: { enabled: true, target_training_step: 2 }, assistant_turns: 'last' },
    { metricLogging: { enabled: true, targetTrainingStep: 2 }, assistantTurns: 'last' },
  ],
  ['without values', {}, {}],
])('settings %s are the same in a resource and back', (_, config, spec) => {
  expect(configToSpec(config)).toEqual(spec)
  expect(configFromSpec(spec)).toEqual(config)
})
