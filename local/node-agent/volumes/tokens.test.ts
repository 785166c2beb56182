import { expect, test } from 'vitest'
import { renewalTime } from './tokens.ts'

const token = (claims: object) => `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`

test.each([
  ['after four fifths of its life', token({ iat: 1000, exp: 1600 }), 1_480_000],
  ['after a day at the latest', token({ iat: 0, exp: 1_000_000 }), 86_400_000],
  ['at once when it cannot be read', 'nonsense', 0],
  ['at once when there is none', '', 0],
  ['at once when it has no times', token({}), 0],
])('a token is renewed %s', (_name, text, wanted) => {
  expect(renewalTime(text)).toBe(wanted)
})
