import { HttpError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { describe, expect, test } from 'vitest'
import { pickGivenConfig, type RlConfig } from '../settings/rl-config.ts'
import { checkBody, readBytes } from './check-body.ts'

const modelId = '0d9a3f0e-8f64-4f0a-9d0e-4a3c1c1f5b11'

function issuesOf(body: unknown, kind: 'job' | 'log' = 'job'): ValidationIssue[] {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  try {
    checkBody(readBytes(Buffer.isBuffer(body) ? body : Buffer.from(text)), { kind, model: 'team/demo/agent' })
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(HttpError)
    return (error as HttpError).detail as ValidationIssue[]
  }
}

const withGroups = (...groups: unknown[]) => ({ model_id: modelId, trajectory_groups: groups })
const withTrajectory = (trajectory: object) =>
  withGroups({ trajectories: [{ messages_and_choices: [], reward: 0, ...trajectory }] })
const withConfig = (experimental_config: unknown) => ({ ...withGroups(), experimental_config })

const choice = {
  finish_reason: 'stop',
  index: 0,
  message: { role: 'assistant', content: 'hi', tool_calls: null },
  logprobs: { content: [{ token: 'token_id:7', bytes: null, logprob: -9999, top_logprobs: [] }], refusal: null },
  token_ids: [7],
  stop_reason: null,
}

const exchanges = {
  chat_completions: [{ request: { messages: [] }, response: { choices: [choice] }, model: 'm', later: 1 }],
  responses: null,
}

describe('a training job body is accepted if it', () => {
  test.each([
    ['has no groups', withGroups()],
    ['has a group with only exceptions', withGroups({ trajectories: [], exceptions: [{ type: 'x' }], metadata: {} })],
    ['has empty groups and trajectories', withGroups({}, { trajectories: [{}] }, { exceptions: [{ type: 'x' }] })],
    ['has messages and choices', withTrajectory({ messages_and_choices: [{ role: 'user', content: null }, choice] })],
    [
      'has members of older clients',
      withTrajectory({ start_time: '2026-01-01T00:00:00Z', auto_metrics: {}, extra: { deep: [1] } }),
    ],
    [
      'has nulls for members that are not set',
      withTrajectory({ tools: null, initial_policy_version: null, additional_histories: null, metadata: null }),
    ],
    ['has a message with its own finish_reason', withTrajectory({ messages_and_choices: [{ finish_reason: 1 }] })],
    ['has an additional history without messages', withTrajectory({ additional_histories: [{ tools: null }] })],
    ['has captured exchanges', withGroups({ trajectories: [{ exchanges }, { exchanges: null }, { exchanges: {} }] })],
    ['has a null config', withConfig(null)],
    ['has unknown settings', withConfig({ future_setting: 1, ppo: null, 'learning/rate~': [{}] })],
  ])('%s', (_, body) => {
    expect(issuesOf(body)).toEqual([])
  })
})

const missing = (...loc: string[]) => ({ loc: ['body', ...loc], msg: 'Field required', type: 'missing' })
const issue = (loc: string[], type: string, msg: string) => ({ loc: ['body', ...loc], msg, type })
const inTrajectory = ['trajectory_groups', '0', 'trajectories', '0']
const inConfig = 'experimental_config'
const notJson = (reason: string) =>
  expect.stringMatching(new RegExp(String.raw`^JSON decode error: not valid JSON at byte \d+.*: ${reason}`)) as string
const whole = JSON.stringify(withGroups())
const inText = (trajectory: string) =>
  `{"model_id":"${modelId}","trajectory_groups":[{"trajectories":[${trajectory}]}]}`

describe('a training job body is rejected if', () => {
  test.each<[string, unknown, ValidationIssue[]]>([
    ['it is cut off', whole.slice(0, -2), [issue([], 'json_invalid', notJson(''))]],
    ['text is after its end', `${whole},`, [issue([], 'json_invalid', notJson('unexpected text after the end'))]],
    [
      'its bytes are not UTF-8',
      Buffer.from(whole.replace('[]', '["\u00ff"]'), 'latin1'),
      [issue([], 'json_invalid', expect.stringContaining('not valid UTF-8') as string)],
    ],
    [
      'a trajectory has NaN',
      inText('{"messages_and_choices":[],"reward":NaN}'),
      [issue(inTrajectory, 'json_invalid', notJson('JSON has no NaN'))],
    ],
    [
      'a trajectory is nested too deeply',
      inText(`${'['.repeat(200)}${']'.repeat(200)}`),
      [issue(inTrajectory, 'json_invalid', 'JSON decode error: nested more than 128 levels deep')],
    ],
    [
      'a text has half of a surrogate pair',
      inText(String.raw`{"messages_and_choices":[{"role":"\ud83d"}],"reward":1}`),
      [
        issue(
          [...inTrajectory, 'messages_and_choices', '0', 'role'],
          'string_unicode',
          'Input should be a valid string, unable to parse raw data as a unicode string',
        ),
      ],
    ],
    [
      'a start time is none',
      withTrajectory({ start_time: 'yesterday' }),
      [issue([...inTrajectory, 'start_time'], 'datetime_parsing', 'Input should be a valid datetime')],
    ],
    ['it is not an object', '[]', [issue([], 'dict_type', 'Input should be a valid dictionary')]],
    ['fields are missing', {}, [missing('model_id'), missing('trajectory_groups')]],
    [
      'model_id is neither an id nor a name',
      { ...withGroups(), model_id: `urn:uuid:${modelId}` },
      [
        issue(
          ['model_id'],
          'string_pattern_mismatch',
          expect.stringMatching(
            /: the id of a model, or its name: ENTITY\/PROJECT\/NAME, PROJECT\/NAME, or NAME if only/,
          ),
        ),
      ],
    ],
    [
      'model_id is not a text',
      { ...withGroups(), model_id: 7 },
      [issue(['model_id'], 'string_type', 'Input should be a valid string')],
    ],
    [
      'groups are not a list',
      { ...withGroups(), trajectory_groups: {} },
      [issue(['trajectory_groups'], 'list_type', 'Input should be a valid list')],
    ],
    [
      'a group is not an object, and the trajectories of another are no list',
      withGroups('x', { trajectories: {} }),
      [
        issue(['trajectory_groups', '0'], 'dict_type', 'Input should be a valid dictionary'),
        issue(['trajectory_groups', '1', 'trajectories'], 'list_type', 'Input should be a valid list'),
      ],
    ],
    [
      'a reward is a boolean',
      withTrajectory({ reward: true }),
      [issue([...inTrajectory, 'reward'], 'float_type', 'Input should be a valid number')],
    ],
    [
      'a reward is too large',
      JSON.stringify(withTrajectory({ reward: 12345 })).replace('12345', '1e999'),
      [issue([...inTrajectory, 'reward'], 'finite_number', 'Input should be a finite number')],
    ],
    [
      'a message is not an object, and a policy version is not an integer',
      withTrajectory({ messages_and_choices: ['hi'], initial_policy_version: 1.5 }),
      [
        issue([...inTrajectory, 'messages_and_choices', '0'], 'dict_type', 'Input should be a valid dictionary'),
        issue(
          [...inTrajectory, 'initial_policy_version'],
          'int_from_float',
          'Input should be a valid integer, got a number with a fractional part',
        ),
      ],
    ],
    [
      'a choice has a logprob that is not a number',
      withTrajectory({ messages_and_choices: [{ ...choice, logprobs: { content: [{ token: 'x', logprob: null }] } }] }),
      [
        issue(
          [...inTrajectory, 'messages_and_choices', '0', 'logprobs', 'content', '0', 'logprob'],
          'float_type',
          'Input should be a valid number',
        ),
      ],
    ],
    [
      'a trajectory is both written and captured',
      withTrajectory({ messages_and_choices: [{ role: 'user', content: 'a' }], exchanges }),
      [
        issue(
          [...inTrajectory, 'exchanges'],
          'value_error',
          'Value error, a trajectory has either exchanges, or messages_and_choices with additional_histories',
        ),
      ],
    ],
    [
      'an exchange has no response',
      withTrajectory({ exchanges: { completions: [{ request: {} }] } }),
      [missing(...inTrajectory, 'exchanges', 'completions', '0', 'response')],
    ],
    [
      'a reward is no JSON',
      JSON.stringify(withGroups({}, { trajectories: [{}, { reward: 12345 }] })).replace('12345', 'NaN'),
      [
        issue(
          ['trajectory_groups', '1', 'trajectories', '1'],
          'json_invalid',
          expect.stringMatching(/^JSON decode error: /),
        ),
      ],
    ],
    [
      'additional settings are out of bounds',
      withConfig({
        kl_penalty_coef: -1_000_001,
        kl_penalty_reference_step: 1.5,
        kl_penalty_step_lag: 0,
        truncated_importance_sampling: -1,
        allow_training_without_logprobs: 'yes',
      }),
      [
        issue([inConfig, 'allow_training_without_logprobs'], 'bool_type', 'Input should be a valid boolean'),
        issue([inConfig, 'kl_penalty_coef'], 'greater_than_equal', 'Input should be greater than or equal to -1000000'),
        issue(
          [inConfig, 'kl_penalty_reference_step'],
          'int_from_float',
          'Input should be a valid integer, got a number with a fractional part',
        ),
        issue([inConfig, 'kl_penalty_step_lag'], 'greater_than_equal', 'Input should be greater than or equal to 1'),
        issue(
          [inConfig, 'truncated_importance_sampling'],
          'greater_than_equal',
          'Input should be greater than or equal to 0',
        ),
      ],
    ],
    [
      'settings have wrong types or are out of bounds',
      withConfig({
        learning_rate: -1,
        epsilon: '0.2',
        ppo: 1,
        importance_sampling_level: 'word',
        advantage_balance: 2,
        loss_fn: 'dpo',
      }),
      [
        issue([inConfig, 'advantage_balance'], 'less_than_equal', 'Input should be less than or equal to 1'),
        issue([inConfig, 'epsilon'], 'float_type', 'Input should be a valid number'),
        issue(
          [inConfig, 'importance_sampling_level'],
          'literal_error',
          "Input should be 'token', 'sequence', 'average' or 'geometric_average'",
        ),
        issue([inConfig, 'learning_rate'], 'greater_than_equal', 'Input should be greater than or equal to 0'),
        issue([inConfig, 'loss_fn'], 'literal_error', "Input should be 'cispo' or 'ppo'"),
        issue([inConfig, 'ppo'], 'bool_type', 'Input should be a valid boolean'),
      ],
    ],
  ])('%s', (_, body, issues) => {
    expect(issuesOf(body)).toEqual(issues)
  })

  test('it has many issues: a hundred are reported', () => {
    expect(issuesOf(withGroups(...Array.from({ length: 500 }, () => 1)))).toHaveLength(100)
  })
})

test.each<[string, object, string, string]>([
  ['no split', { split: undefined }, 'split', 'missing'],
  ['a split with a space', { split: 'my split' }, 'split', 'string_pattern_mismatch'],
  ['an empty split', { split: '' }, 'split', 'string_too_short'],
  ['a split that is too long', { split: 'x'.repeat(65) }, 'split', 'string_too_long'],
  ['groups that are null', { trajectory_groups: null }, 'trajectory_groups', 'list_type'],
])('a log is rejected with %s', (_, change, field, type) => {
  const issues = issuesOf({ split: 'val', trajectory_groups: [], ...change }, 'log')
  expect(issues).toContainEqual(expect.objectContaining({ loc: ['body', field], type }))
})

describe('the given settings', () => {
  test.each([
    ['none', null, {}],
    ['nulls count as absent', { epsilon: null, learning_rate: 5e-6 }, { learning_rate: 5e-6 }],
    ['false and 0 are given', { ppo: false, advantage_balance: 0 }, { ppo: false, advantage_balance: 0 }],
    [
      'settings that the hosted service does not have',
      { kl_penalty_coef: 0.1, kl_penalty_reference_step: 0, truncated_importance_sampling: null },
      { kl_penalty_coef: 0.1, kl_penalty_reference_step: 0 },
    ],
    ['unknown settings are left out', { ppo: true, future_setting: 1 } as RlConfig, { ppo: true }],
    ["the interface document's name of a setting", { modelfamily_k2_tau: 0.5 }, { kimi_k2_tau: 0.5 }],
    ["the clients' name takes precedence", { modelfamily_k2_tau: 0.5, kimi_k2_tau: 0.1 }, { kimi_k2_tau: 0.1 }],
  ])('%s', (_, config, expected) => {
    expect(pickGivenConfig(config)).toEqual(expected)
  })
})
