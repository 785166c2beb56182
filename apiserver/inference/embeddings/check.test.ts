import { expect, test } from 'vitest'
import { parseJson } from '../../../lib/json/document.ts'
import { checkEmbedding } from './check.ts'

const target = { engineName: 'engine', trainable: true, cacheSalt: 'salt' }
const check = (body: object) => checkEmbedding(parseJson(Buffer.from(JSON.stringify(body))))

test('engines get their own name of the model and a salt, and only declared members', () => {
  expect(check({ model: 'mine', input: ['a'], encoding_format: 'base64', other: 1 }).change(target)).toEqual({
    model: 'engine',
    cache_salt: 'salt',
    other: undefined,
  })
})

test.each<[string, object, string]>([
  ['no input', {}, 'input'],
  ['chats as input', { input: [{ role: 'user', content: 'a' }] }, 'input.0'],
  ['an encoding that is not JSON', { input: 'a', encoding_format: 'bytes' }, 'encoding_format'],
  ['too many inputs', { input: Array.from({ length: 2_049 }, () => 'a') }, 'input'],
  ['a padded prompt', { input: 'a', padding: 'max_length' }, 'padding'],
  ['a priority', { input: 'a', priority: 1 }, 'priority'],
])('%s is rejected', (_, body, path) => {
  expect(() => check(body)).toThrow(`body.${path}: `)
})
