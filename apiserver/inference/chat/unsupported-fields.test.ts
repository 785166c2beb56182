import { expect, test } from 'vitest'
import { chatFields } from './chat-fields.ts'
import { chatRequestSchema } from './chat-schema.ts'
import { findUnsupportedFields } from './unsupported-fields.ts'

const messages = [{ role: 'user' }]
const find = (more: object) => findUnsupportedFields({ messages, ...more }).map(({ loc }) => loc.slice(1).join('.'))

test.each([
  ['chat_template', '{{ 1 }}'],
  ['logits_processors', ['os.system']],
  ['kv_transfer_params', { prompt_token_ids: [1] }],
  ['ec_transfer_params', { a: 1 }],
  ['mm_processor_kwargs', { num_crops: 1_000_000 }],
  ['media_io_kwargs', { video: { num_frames: -1 } }],
  ['prompt_embeds', 'gASV'],
  ['guided_json', { type: 'object' }],
  ['guided_regex', '[ab]'],
])('%s is rejected, unless it is empty', (name, value) => {
  expect(find({ [name]: value })).toEqual([name])
  expect([null, [], {}].flatMap((empty) => find({ [name]: empty }))).toEqual([])
})

test('nested members that would change the engine are rejected', () => {
  expect(
    find({
      chat_template_kwargs: { chat_template: 'x', enable_thinking: true, padding: 'max_length', max_length: 1e9 },
      engine_xargs: { kv_transfer_params: 'x', mine: 1 },
      vllm_xargs: { diffusion_canvas_length: 1e9, mine: 1 },
    }),
  ).toEqual([
    'engine_xargs.kv_transfer_params',
    'vllm_xargs.diffusion_canvas_length',
    'chat_template_kwargs.chat_template',
    'chat_template_kwargs.padding',
    'chat_template_kwargs.max_length',
  ])
})

test('all other members pass, also unknown ones', () => {
  expect(
    find({ temperature: 1, metadata: {}, constructor: 1, chat_template_kwargs: { enable_thinking: true } }),
  ).toEqual([])
})

test('the error gives the reason', () => {
  expect(findUnsupportedFields({ messages, chat_template: 'x' })).toEqual([
    {
      loc: ['body', 'chat_template'],
      msg: 'chat_template is not accepted: it would run your code in an engine that others use too',
      type: 'value_error',
    },
  ])
})

test('each field of the interface is declared', () => {
  const { properties } = chatRequestSchema as unknown as { properties: object }
  expect(Object.keys(properties).filter((name) => !Object.hasOwn(chatFields, name))).toEqual([])
})
