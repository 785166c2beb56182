import { expect, test } from 'vitest'
import { SealError, SealingKeys } from './sealing-keys.ts'

const [first, second] = ['the first key of a test', 'the second key of a test']
const context = ['webhook', 'w1', 'acme']
const explain = (open: () => string) => {
  try {
    return open()
  } catch (error) {
    return error instanceof SealError ? error.message : error
  }
}

test('a sealed text is another one each time, and opens', () => {
  const keys = new SealingKeys([first])
  const [one, other] = [keys.seal('whsec_a', context), keys.seal('whsec_a', context)]
  expect(one).not.toBe(other)
  expect([one, other].map((sealed) => keys.open(sealed, context))).toEqual(['whsec_a', 'whsec_a'])
  expect(one).not.toContain('whsec')
})

test('earlier keys open what they have sealed, and new texts get the current one', () => {
  const old = new SealingKeys([first]).seal('whsec_a', context)
  const rotated = new SealingKeys([second, first])
  expect(rotated.open(old, context)).toBe('whsec_a')
  expect(rotated.earlierIds).toEqual([old.split('.')[1]])
  const again = rotated.seal('whsec_a', context)
  expect(new SealingKeys([second]).open(again, context)).toBe('whsec_a')
  expect(rotated.earlierIds).not.toContain(again.split('.')[1])
})

test('the reason says why a text cannot be opened, and not what it is', () => {
  const keys = new SealingKeys([first])
  const sealed = keys.seal('whsec_a', context)
  const [version, id, text] = sealed.split('.') as [string, string, string]
  const changed = `${text.slice(0, -4)}${text.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
  const elsewhere = 'it was changed, or it belongs to another row'
  expect(explain(() => new SealingKeys([second]).open(sealed, context))).toBe(`there is no key with the id ${id}`)
  expect(explain(() => new SealingKeys([]).open(sealed, context))).toBe(`there is no key with the id ${id}`)
  expect(explain(() => keys.open(sealed, ['webhook', 'w2', 'acme']))).toBe(elsewhere)
  expect(explain(() => keys.open(sealed, ['webhook', 'w1', 'other']))).toBe(elsewhere)
  expect(explain(() => keys.open(sealed, ['webhook', 'w1acme', '']))).toBe(elsewhere)
  expect(explain(() => keys.open(`${version}.${id}.${changed}`, context))).toBe(elsewhere)
  expect(explain(() => keys.open(`${version}.${id}.`, context))).toBe(elsewhere)
  expect(explain(() => keys.open(`s2.${id}.${text}`, context))).toBe(`there is no key with the id ${id}`)
})

test('without a key nothing is sealed, and what follows from a key follows from no other', () => {
  expect(explain(() => new SealingKeys([]).seal('a', context))).toBe('there is no key')
  const [mine, others] = [new SealingKeys([first]), new SealingKeys([second, first])]
  expect(mine.derive('a')).toEqual(new SealingKeys([first, second]).derive('a'))
  expect(mine.derive('a')).not.toEqual(others.derive('a'))
  expect(mine.derive('a')).toHaveLength(32)
})
