import { expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { checkEmbedding } from './check.ts'

const target = { engineName: 'engine', trainable: true, cacheSalt: 'salt' }
const check = (body: object) => checkEmbedding(parseJson(Buffer.from(JSON.stringify(body))))

test('engines get their own name and a salt, and nothing that is not in the list', () => {
  expect(check({ model: 'mine', input: ['a'], encoding_format: 'base64', other: 1 }).change(target)).toEqual({
    model: 'engine',
    cache_salt: 'salt',
    other: undefined,
  })
})

test.each<[string, object, string]>([
  ['no input', {}, 'input'],
  ['chats as input', { input: [{ role: 'user', content: 'a' }] }, 'input.0'],
  ['a form that is no JSON', { input: 'a', encoding_format: 'bytes' }, 'encoding_format'],
  ['very many inputs', { input: Array.from({ length: 2_049 }, () => 'a') }, 'input'],
  ['a padded prompt', { input: 'a', padding: 'max_length' }, 'padding'],
  ['a priority', { input: 'a', priority: 1 }, 'priority'],
])('%s is refused', (_, body, place) => {
  expect(() => check(body)).toThrow(`body.${place}: `)
})
