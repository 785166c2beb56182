import { expect, test } from 'vitest'
import { requirePossibleConfig, type RlConfig } from './rl-config.ts'

test.each<[string, RlConfig | null]>([
  ['nothing', null],
  ["the defaults of ART's newest client", { loss_fn: 'cispo', ppo: false, kl_penalty_source: 'current_learner' }],
  ['two names of one loss', { loss_fn: 'ppo', ppo: true }],
  ['a loss beside a null', { loss_fn: 'ppo', ppo: null }],
  ['two names of one value', { kimi_k2_tau: 0.1, modelfamily_k2_tau: 0.1 }],
  ['a reference beside a null', { kl_penalty_reference_step: null, kl_penalty_step_lag: 1 }],
])('%s is possible', (_, config) => {
  expect(() => requirePossibleConfig(config)).not.toThrow()
})

test.each<[string, RlConfig, string, string]>([
  [
    'two names of one setting',
    { kimi_k2_tau: 0.1, modelfamily_k2_tau: 0.2 },
    'modelfamily_k2_tau',
    'this is another name of kimi_k2_tau, and the two values differ',
  ],
  [
    'a loss without ppo',
    { loss_fn: 'ppo', ppo: false },
    'loss_fn',
    'loss_fn is ppo, but ppo is false: send one of them, or the same in both',
  ],
  [
    'another loss with ppo',
    { loss_fn: 'cispo', ppo: true },
    'loss_fn',
    'loss_fn is cispo, but ppo is true: send one of them, or the same in both',
  ],
  [
    'two references',
    { kl_penalty_reference_step: 0, kl_penalty_step_lag: 1 },
    'kl_penalty_step_lag',
    'kl_penalty_reference_step names the reference already: send one of them',
  ],
])('%s that contradict each other are a 422 with a sentence', (_, config, name, reason) => {
  const detail = [
    {
      type: 'value_error',
      loc: ['body', 'experimental_config', name],
      msg: `Value error, ${reason}`,
      input: undefined,
    },
  ]
  expect(() => requirePossibleConfig(config)).toThrow(expect.objectContaining({ detail }))
})
