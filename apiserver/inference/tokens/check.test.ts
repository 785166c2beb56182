import { expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { checkDetokenize, checkTokenize } from './check.ts'

const target = { engineName: 'engine', trainable: true, cacheSalt: 'salt' }
const read = (body: object) => parseJson(Buffer.from(JSON.stringify(body)))

test('engines get their own name of the model', () => {
  expect(checkTokenize(read({ model: 'mine', prompt: 'a', other: 1 })).change(target)).toEqual({
    model: 'engine',
    other: undefined,
  })
  expect(checkDetokenize(read({ tokens: [1] })).change(target)).toEqual({ model: 'engine' })
})

test.each<[string, object, string]>([
  ['neither a text nor a chat', {}, 'prompt'],
  ['both', { prompt: 'a', messages: [{ role: 'user' }] }, 'prompt'],
  ['a template', { messages: [{ role: 'user' }], chat_template: '{{ 1 }}' }, 'chat_template'],
  [
    'an address',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x.test' } }] }] },
    'messages.0.content.0.image_url.url',
  ],
  [
    "a change of the prompt's length",
    { prompt: 'a', chat_template_kwargs: { max_length: 9 } },
    'chat_template_kwargs.max_length',
  ],
])('%s is rejected', (_, body, path) => {
  expect(() => checkTokenize(read(body))).toThrow(`body.${path}: `)
})

test('a request has at most 1 MiB', () => {
  const large = 'a'.repeat(1024 * 1024)
  expect(() => checkTokenize(read({ prompt: large }))).toThrow('at most 1048576 bytes')
  expect(() => checkDetokenize(read({ tokens: [1], other: large }))).toThrow('at most 1048576 bytes')
})
