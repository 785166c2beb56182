import { expect, test } from 'vitest'
import { keys, listKeys, readKey, type KeyName, type Pressed } from './keys.ts'

const press = (key: string, more: Partial<Pressed> = {}): Pressed => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  isInField: false,
  ...more,
})

test.each(Object.entries(keys).filter(([, { press: text }]) => !text.startsWith('Alt')))(
  '%s is reached by its key',
  (name, { press: text }) => {
    const parts = text.split(' ')
    const [before, key] = parts.length > 1 && parts[0] !== 'Ctrl' ? [parts[0]!, parts[1]!] : ['', parts.at(-1)!]
    const isCommand = parts[0] === 'Ctrl'
    expect(readKey(press(isCommand ? key.toLowerCase() : key, { ctrlKey: isCommand }), before)).toBe(name)
    if (isCommand) expect(readKey(press(key.toLowerCase(), { metaKey: true }), '')).toBe(name)
    // Characters belong to the field in which they are typed.
    if (!isCommand && key.length === 1) expect(readKey(press(key, { isInField: true }), before)).toBeUndefined()
    expect(readKey(press(key, { altKey: true }), before)).toBeUndefined()
  },
)

test.each<[string, KeyName]>([
  ['ArrowLeft', 'traceParent'],
  ['ArrowRight', 'traceChild'],
  ['ArrowUp', 'tracePrevious'],
  ['ArrowDown', 'traceNext'],
])('Alt and %s is %s, except in a field', (key, wanted) => {
  expect(readKey(press(key, { altKey: true }), '')).toBe(wanted)
  expect(readKey(press(key), '')).toBeUndefined()
  expect(readKey(press(key, { altKey: true, ctrlKey: true }), '')).toBeUndefined()
  expect(readKey(press(key, { altKey: true, isInField: true }), '')).toBeUndefined()
})

test.each<[string, string, KeyName | undefined]>([
  ['g', '', undefined],
  ['r', '', undefined],
  ['x', 'g', undefined],
  // It is no page, so that it is what it is alone.
  ['j', 'g', 'next'],
])('%s after %j is %s', (key, before, wanted) => {
  expect(readKey(press(key), before)).toBe(wanted)
})

test('no two keys are the same, and the help has all of them', () => {
  const presses = Object.values(keys).map(({ press: text }) => text)
  expect(new Set(presses).size).toBe(presses.length)
  expect(listKeys().flatMap(({ keys: own }) => own)).toHaveLength(presses.length)
})
