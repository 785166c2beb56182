import { expect, test } from 'vitest'
import { generateKey } from '../accounts/keys/secret.ts'
import { maskKeys } from './mask-keys.ts'

test('keys in a command line are masked, and the text keeps its length', () => {
  const key = generateKey()
  const text = `{"args":["--key=${key}","ty_short","--lr","1"]}`
  expect(maskKeys(text)).toBe(`{"args":["--key=${'*'.repeat(key.length)}","ty_short","--lr","1"]}`)
})
