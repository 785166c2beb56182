import { expect, test } from 'vitest'
import { readTraceKey } from './auth.ts'

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test.each<[string, Record<string, string>, string | undefined]>([
  ['the password of the SDKs', { authorization: basic('api:ty_1') }, 'ty_1'],
  ['a password with a colon', { authorization: basic('api:a:b') }, 'a:b'],
  ['a key without a user name', { authorization: basic('ty_1') }, 'ty_1'],
  ['an empty password', { authorization: basic('api:') }, undefined],
  ['a bearer token', { authorization: 'Bearer ty_1' }, 'ty_1'],
  ['the header of exporters', { 'wandb-api-key': 'ty_1' }, 'ty_1'],
  ['the Authorization header before the other', { authorization: 'bearer ty_1', 'wandb-api-key': 'ty_2' }, 'ty_1'],
  ['another scheme', { authorization: 'Digest ty_1' }, undefined],
  ['nothing', {}, undefined],
])('reads %s', (_, headers, expected) => {
  expect(readTraceKey({ get: (name: string) => headers[name.toLowerCase()] ?? '' })).toBe(expected)
})
