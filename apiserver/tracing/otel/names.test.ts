import { expect, test } from 'vitest'
import { shortenDisplayName, shortenOpName } from './names.ts'

// The expected values are those of `shorten_name` in weave 0.52.20.
test.each([
  ['that just fits', 'x'.repeat(128), 'x'.repeat(128)],
  ['without delimiters', 'x'.repeat(129), `${'x'.repeat(123)}:0ec9`],
  ['of characters of two UTF-16 units', '𝒳'.repeat(129), `${'𝒳'.repeat(123)}:f61d`],
  ['of words', 'POST /api/users/'.repeat(10), `${'POST /api/users/'.repeat(7)}POST /api:04a9`],
  ['that begins with a delimiter', `/${'y'.repeat(200)}`, '/:cf77'],
  ['with a long last word', `a b ${'c'.repeat(130)}`, 'a b:c682'],
  ['with a first word that just fits', `${'a'.repeat(122)}/${'b'.repeat(100)}`, `${'a'.repeat(122)}:0c5c`],
  ['that begins with several delimiters', `//${'abc, '.repeat(40)}`, `//${'abc, '.repeat(24).slice(0, -2)}:e9c4`],
])('the name of an op %s', (_, name, expected) => {
  expect(shortenOpName(name)).toBe(expected)
})

test('a name that ends in many delimiters is shortened too', () => {
  expect(shortenOpName(`${'a'.repeat(100)}${'.'.repeat(40)}`)).toBe(`${'a'.repeat(100)}:25a9`)
})

test.each([
  ['words', 'word '.repeat(300), `${'word '.repeat(204)}...`],
  ['one word', 'x'.repeat(1_025), `${'x'.repeat(1_021)}...`],
  ['dots', 'a.b.c'.repeat(300), `${'a.b.c'.repeat(203)}a.b...`],
  ['a comma', `${'a'.repeat(1_000)}, ${'b'.repeat(100)}`, `${'a'.repeat(1_000)}, ...`],
])('a display name of %s', (_, name, expected) => {
  expect(shortenDisplayName(name)).toBe(expected)
})
