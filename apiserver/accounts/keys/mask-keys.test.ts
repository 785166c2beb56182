import { expect, test } from 'vitest'
import { maskKeyBytes, maskKeys } from './mask-keys.ts'
import { generateKey } from './secret.ts'

const key = generateKey()
const masked = '*'.repeat(key.length)

test.each([
  ['a command line', `{"args":["--key=${key}","--lr","1"]}`, `{"args":["--key=${masked}","--lr","1"]}`],
  ['an escape before it', String.raw`"a\n${key}"`, String.raw`"a\n${masked}"`],
  ['two of them', `${key} ${key}`, `${masked} ${masked}`],
  ['a short one', 'ty_short', 'ty_short'],
  ['another word', `priority_${'a'.repeat(25)}`, `priority_${'a'.repeat(25)}`],
  ['other characters', `é ${key} ü`, `é ${masked} ü`],
])('%s', (_, text, expected) => {
  expect(maskKeys(text)).toBe(expected)
  const bytes = Buffer.from(text)
  maskKeyBytes(bytes)
  expect(bytes.toString()).toBe(expected)
})
