import { describe, expect, test } from 'vitest'
import { parseValue, writeValue } from '../../../../lib/json/value.ts'
import { buildBuiltin } from './classes.ts'

const build = (className: string, value: unknown) =>
  JSON.parse(
    writeValue(buildBuiltin(className, parseValue(typeof value === 'string' ? value : JSON.stringify(value)))),
  ) as unknown

const named = { name: null, description: null }
const part = (name: string, fields: object) => ({ _type: name, ...fields, _class_name: name, _bases: ['BaseModel'] })
const builtin = (name: string, fields: object) => ({
  _type: name,
  ...named,
  ...fields,
  _class_name: name,
  _bases: ['BaseObject', 'BaseModel'],
})

describe('an object of a class of the server', () => {
  test.each<[string, string, object, object]>([
    [
      'gets defaults for missing members',
      'AnnotationSpec',
      {},
      builtin('AnnotationSpec', { field_schema: {}, unique_among_creators: false, op_scope: null }),
    ],
    [
      'loses unknown members',
      'AnnotationSpec',
      { name: 'x', field_schema: { type: 'string' }, other: 1 },
      builtin('AnnotationSpec', {
        name: 'x',
        field_schema: { type: 'string' },
        unique_among_creators: false,
        op_scope: null,
      }),
    ],
    [
      'accepts numbers that are written as texts',
      'ProviderModel',
      { provider: 'p', max_tokens: ' 12' },
      builtin('ProviderModel', { provider: 'p', max_tokens: 12 }),
    ],
    [
      'accepts words for booleans',
      'AnnotationSpec',
      { unique_among_creators: 'Yes' },
      builtin('AnnotationSpec', { field_schema: {}, unique_among_creators: true, op_scope: null }),
    ],
    [
      'names the classes of its parts',
      'Leaderboard',
      { columns: [{ evaluation_object_ref: 'r', scorer_name: 's', summary_metric_path: 'p' }] },
      builtin('Leaderboard', {
        columns: [
          part('LeaderboardColumn', {
            evaluation_object_ref: 'r',
            scorer_name: 's',
            summary_metric_path: 'p',
            should_minimize: null,
          }),
        ],
      }),
    ],
    [
      'may have absent names that cannot be null',
      'ActionSpec',
      { config: { action_type: 'contains_words', target_words: ['p'] } },
      builtin('ActionSpec', {
        config: part('ContainsWordsActionConfig', { action_type: 'contains_words', target_words: ['p'] }),
      }),
    ],
    [
      'has headers for its provider',
      'Provider',
      { base_url: 'u', api_key_name: 'k', extra_headers: { a: 'b' } },
      builtin('Provider', { base_url: 'u', api_key_name: 'k', extra_headers: { a: 'b' }, return_type: 'openai' }),
    ],
    [
      'compares evaluations',
      'ComparisonView',
      { label: 'l', definition: { evaluation_call_ids: ['a'] } },
      builtin('ComparisonView', {
        label: 'l',
        definition: part('ComparisonViewDefinition', { evaluation_call_ids: ['a'], selected_metrics: null }),
      }),
    ],
  ])('%s', (_, className, value, expected) => {
    expect(build(className, value)).toEqual(expected)
  })

  test('writes whole numbers with a point where Python has floats', () => {
    const model = { llm_model_id: 'm', default_params: { temperature: 1, max_tokens: 5.0, top_p: 0.25 } }
    const written = writeValue(buildBuiltin('LLMStructuredCompletionModel', parseValue(JSON.stringify(model))))
    expect(written).toContain('"temperature":1.0,"top_p":0.25,"max_tokens":5,')
    expect(written).toContain('"_bases":["Model","Object","BaseModel"]')
  })

  test('contains queries whose operations name their classes', () => {
    const field = { $getField: 'a' }
    const expression = {
      $and: [
        { $contains: { input: field, substr: { $literal: 'x' } } },
        { $not: [{ $in: [{ $convert: { input: field, to: 'int' } }, [{ $literal: 1 }]] }] },
      ],
    }
    const view = build('SavedView', { label: 'l', view_type: 'v', definition: { query: { $expr: expression } } })
    const ofField = part('GetFieldOperator', field)
    expect((view as { definition: { query: unknown } }).definition.query).toEqual(
      part('Query', {
        $expr: part('AndOperation', {
          $and: [
            part('ContainsOperation', {
              $contains: part('ContainsSpec', {
                input: ofField,
                substr: part('LiteralOperation', { $literal: 'x' }),
                case_insensitive: false,
              }),
            }),
            part('NotOperation', {
              $not: [
                part('InOperation', {
                  $in: [
                    part('ConvertOperation', { $convert: part('ConvertSpec', { input: ofField, to: 'int' }) }),
                    [part('LiteralOperation', { $literal: 1 })],
                  ],
                }),
              ],
            }),
          ],
        }),
      }),
    )
  })

  test.each<[string, string, unknown]>([
    ['has an unknown class', 'Monitor', {}],
    ['has the name of a prototype as its class', 'constructor', {}],
    ['is not an object', 'Provider', []],
    ['lacks a member', 'Provider', { base_url: 'u' }],
    ['has a number for a text', 'Provider', { base_url: 1, api_key_name: 'k' }],
    ['has an unknown word', 'Provider', { base_url: 'u', api_key_name: 'k', return_type: 'x' }],
    ['has a fraction', 'ProviderModel', { provider: 'p', max_tokens: 12.5 }],
    ['has an invalid number', 'ProviderModel', '{"provider": "p", "max_tokens": 1e999}'],
    ['has a list for an object', 'Leaderboard', { columns: {} }],
    [
      'has a null for a name',
      'ActionSpec',
      { name: null, config: { action_type: 'contains_words', target_words: [] } },
    ],
    ['has an unknown operation', 'ActionSpec', { config: { action_type: '__proto__' } }],
    ['exceeds a limit', 'LLMStructuredCompletionModel', { llm_model_id: 'm', more: 1 }],
    ['has a broken schema', 'AnnotationSpec', { field_schema: { type: 'strin' } }],
    ['has a recursive schema', 'AnnotationSpec', { field_schema: { description: 'x'.repeat(70_000) } }],
    ['filters by an unknown field', 'SavedView', { label: 'l', view_type: 'v', definition: { filter: { x: [] } } }],
    [
      'requests an unknown field',
      'SavedView',
      { label: 'l', view_type: 'v', definition: { query: { $expr: { $x: 1 } } } },
    ],
  ])('is rejected when it %s', (_, className, value) => {
    expect(() => build(className, value)).toThrow(expect.objectContaining({ name: 'FieldError' }))
  })

  test('is rejected quickly, even for a very long invalid number', () => {
    const before = performance.now()
    expect(() => build('ProviderModel', { provider: 'p', max_tokens: `${'1'.repeat(20_000)}x` })).toThrow(
      'must be an integer',
    )
    expect(performance.now() - before).toBeLessThan(5_000)
  })
})
