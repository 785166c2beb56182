import { JsonNumber, type Value } from '../../../../lib/json/value.ts'
import {
  anyOf,
  anything,
  boolean,
  float,
  integer,
  listOf,
  mapOf,
  FieldError,
  objectOf,
  oneOf,
  orNull,
  text,
  withDefault,
  type Field,
  type Fields,
  type ObjectClass,
} from './fields.ts'
import { jsonSchema } from './json-schema.ts'
import { callsFilter, query, sortBy } from './query-classes.ts'

const named: Fields = { name: orNull(text), description: orNull(text) }
const listOfTexts = listOf(text)

/** A class of the objects that users' interfaces publish. */
const builtin = (name: string, fields: Fields): ObjectClass => ({
  name,
  bases: ['BaseObject', 'BaseModel'],
  fields: { ...named, ...fields },
})
/** A class of a nested object. */
const part = (name: string, fields: Fields): Field => objectOf({ name, bases: ['BaseModel'], fields })

const actionConfigs: Record<string, Field> = {
  llm_judge: part('LlmJudgeActionConfig', {
    action_type: oneOf('llm_judge'),
    model: oneOf('gpt-4o', 'gpt-4o-mini'),
    prompt: text,
    response_schema: jsonSchema,
  }),
  contains_words: part('ContainsWordsActionConfig', {
    action_type: oneOf('contains_words'),
    target_words: listOfTexts,
  }),
}

const actionConfig: Field = (value, path) => {
  const type = value instanceof Map ? value.get('action_type') : undefined
  if (typeof type === 'string' && Object.hasOwn(actionConfigs, type)) return actionConfigs[type]!(value, path)
  throw new FieldError(`${path}.action_type must be one of ${Object.keys(actionConfigs).join(', ')}`)
}

const message = part('Message', {
  role: text,
  content: orNull(anyOf(text, listOf(mapOf(anything)))),
  name: orNull(text),
  function_call: orNull(mapOf(anything)),
  tool_call_id: orNull(text),
})

const completionParameters = part('LLMStructuredCompletionModelDefaultParams', {
  messages_template: orNull(listOf(message)),
  temperature: orNull(float),
  top_p: orNull(float),
  max_tokens: orNull(integer),
  presence_penalty: orNull(float),
  frequency_penalty: orNull(float),
  stop: orNull(listOfTexts),
  n_times: orNull(integer),
  functions: orNull(listOf(mapOf(anything))),
  response_format: orNull(oneOf('json_object', 'json_schema', 'text')),
})

const chart = part('ChartConfig', {
  x_axis: text,
  y_axis: text,
  plot_type: orNull(oneOf('scatter', 'line', 'bar')),
  bin_count: orNull(integer),
  aggregation: orNull(oneOf('average', 'sum', 'min', 'max', 'p95', 'p99')),
  group_keys: orNull(listOfTexts),
  custom_name: orNull(text),
})

/** An integer stays an integer. Any other element must be a text. */
const pathElement: Field = (value, path) => (value instanceof JsonNumber ? integer(value, path) : text(value, path))

const viewDefinition = part('SavedViewDefinition', {
  filter: orNull(callsFilter),
  query: orNull(query),
  cols: orNull(mapOf(boolean)),
  columns: orNull(listOf(part('Column', { path: orNull(listOf(pathElement)), label: orNull(text) }))),
  header_depth: orNull(integer),
  pin: orNull(part('Pin', { left: listOfTexts, right: listOfTexts })),
  sort_by: orNull(listOf(sortBy)),
  page: orNull(integer),
  page_size: orNull(integer),
  charts: orNull(listOf(chart)),
  dataset_selector: orNull(text),
  evaluation_selector: orNull(text),
})

const classes: ObjectClass[] = [
  builtin('AnnotationSpec', {
    field_schema: withDefault(jsonSchema, () => new Map()),
    unique_among_creators: withDefault(boolean, () => false),
    op_scope: orNull(listOfTexts),
  }),
  // The name may be left out, but not be null.
  builtin('ActionSpec', { name: withDefault(text, () => null), config: actionConfig }),
  builtin('Provider', {
    base_url: text,
    api_key_name: text,
    extra_headers: withDefault(mapOf(text), () => new Map()),
    return_type: withDefault(oneOf('openai'), () => 'openai'),
  }),
  builtin('ProviderModel', { provider: text, max_tokens: integer }),
  builtin('Leaderboard', {
    columns: listOf(
      part('LeaderboardColumn', {
        evaluation_object_ref: text,
        scorer_name: text,
        summary_metric_path: text,
        should_minimize: orNull(boolean),
      }),
    ),
  }),
  builtin('SavedView', { view_type: text, label: text, definition: viewDefinition }),
  builtin('ComparisonView', {
    label: text,
    definition: part('ComparisonViewDefinition', {
      evaluation_call_ids: listOfTexts,
      selected_metrics: orNull(listOfTexts),
    }),
  }),
  {
    name: 'LLMStructuredCompletionModel',
    bases: ['Model', 'Object', 'BaseModel'],
    isStrict: true,
    fields: {
      ...named,
      ref: withDefault(onlyNull, () => null),
      llm_model_id: text,
      default_params: withDefault(completionParameters, () => completionParameters(new Map(), 'default_params')),
    },
  },
]

function onlyNull(value: Value, path: string): Value {
  if (value === null) return null
  throw new FieldError(`${path} is set by the server`)
}

const byName = new Map(classes.map((objectClass) => [objectClass.name, objectOf(objectClass)]))

/**
 * Builds an object of a builtin class: validates the value, fills in defaults, and adds the members that name the
 * class.
 *
 * @throws {FieldError}
 */
export function buildBuiltin(className: string, value: Value): Value {
  const build = byName.get(className)
  if (!build) throw new FieldError(`Unknown object class: ${className.slice(0, 200)}`)
  return build(value, className)
}
