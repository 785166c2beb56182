import { expect, test } from 'vitest'
import { explainLoss, findEffect, judgeToken, readLoss, writeFormula, type TokenStatistics } from './loss.ts'

const token: TokenStatistics = {
  oldLogprob: -1,
  newLogprob: -0.5,
  ratio: Math.exp(0.5),
  coefficient: -0.02 * Math.exp(0.5),
  entropy: 1,
  isMasked: false,
  isClippedLow: false,
  isClippedHigh: false,
  isDropped: false,
}

test.each<[object, string]>([
  [{}, '−clip(r, 0, 5) × A × log p × w'],
  [{ epsilon: 0.3, epsilon_high: 0.5 }, '−clip(r, 0.700, 1.500) × A × log p × w'],
  [{ ppo: true }, '−min(r × A, clip(r, 0.800, 1.200) × A) × w'],
  [
    { ppo: true, epsilon: 0.1, truncated_importance_sampling: 2 },
    '−min(r × A, clip(r, 0.900, 1.100) × A) × w × min(r, 2)',
  ],
])('the formula of %j is %s', (given, formula) => {
  expect(writeFormula(readLoss(given as Record<string, unknown>))).toBe(formula)
})

// The derivative that the trainer's loss.py has, for an advantage × weight ÷ tokens of 0.02.
test.each<[string, object, Partial<TokenStatistics>, number | undefined]>([
  ['CISPO', {}, {}, 0.02],
  ['a clipped ratio', { epsilon_high: 0.1 }, { ratio: 3, coefficient: -0.02 * 1.1 }, 0.02],
  [
    'a masked ratio, which is clipped to the lower bound',
    { epsilon: 0.2 },
    { ratio: 0, coefficient: -0.02 * 0.8 },
    0.02,
  ],
  ['a masked ratio without a lower bound', {}, { ratio: 0, coefficient: 0 }, undefined],
  ['a truncated ratio', { truncated_importance_sampling: 1.5 }, { ratio: 2, coefficient: -0.02 * 2 * 1.5 }, 0.02],
  [
    'a truncated ratio of other probabilities',
    { truncated_importance_sampling: 2, precalculate_logprobs: true },
    {},
    undefined,
  ],
  ['PPO', { ppo: true }, { ratio: 1.1, coefficient: -0.022 }, 0.02],
  ['PPO by sequence', { ppo: true, importance_sampling_level: 'sequence' }, {}, undefined],
  ['an unknown ratio', {}, { ratio: null }, undefined],
])('the effect of %s', (_, given, values, wanted) => {
  const found = findEffect({ ...token, ...values }, readLoss(given as Record<string, unknown>))
  if (wanted === undefined) expect(found).toBeUndefined()
  else expect(found).toBeCloseTo(wanted)
})

test('each term has its number, in the order of the computation', () => {
  const terms = explainLoss(token, readLoss({ kimi_k2_tau: 0.1, kl_penalty_coef: 0.5 }))
  expect(terms.map(({ name, value }) => [name, value])).toEqual([
    ['old log p', '−1'],
    ['new log p', '−0.500'],
    ['r', '1.649'],
    ['clip(r)', '1.649'],
    ['A × w ÷ n', '+0.020'],
    ['coefficient', '−0.033'],
  ])
  expect(terms[4]!.meaning).toMatch(/kimi_k2_tau 0.100.*KL penalty 0.500/)
  expect(explainLoss({ ...token, isMasked: true, isClippedHigh: true }, readLoss({}))[3]!.meaning).toContain(
    'mask_prob_ratio',
  )
})

test('the verdict follows the sign of the coefficient', () => {
  const verdicts = [-1, 1, 0, null].map((coefficient) => judgeToken({ ...token, coefficient }))
  expect(verdicts.map((text) => /more|less|left|not known/.exec(text)?.[0])).toEqual([
    'more',
    'less',
    'left',
    'not known',
  ])
  expect(judgeToken({ ...token, isDropped: true })).toMatch(/^Not trained on/)
})
