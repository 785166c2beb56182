import { expect, test } from 'vitest'
import { seal, unseal } from './sealed.ts'

test('a text is decrypted by the key that encrypted it, and by no other', () => {
  const sealed = seal('ty_secret', 'ty_mine')
  expect(sealed).not.toContain('secret')
  expect(unseal(sealed, 'ty_mine')).toBe('ty_secret')
  expect(unseal(sealed, 'ty_other')).toBeUndefined()
})
