import { expect, test } from 'vitest'
import { parseDeclaration } from './declaration.ts'

const declare = (setting: string) => `RL: { a: ${setting} }\nSFT: {}`

test.each([
  ['a number', '{ description: A., type: number, minimum: 0, maximum: 1, default: 0.5 }'],
  ['a number without a default', '{ description: A., type: number, minimum: 0, maximum: 1, default: null }'],
  ['a flag', '{ description: A., type: boolean, default: false, extension: true }'],
  ['a choice', '{ description: A., enum: [b, c], default: b, alias: d }'],
  ['a choice without a default', '{ description: A., enum: [b, c], default: null, effect: none }'],
  [
    'an object',
    '{ description: A., properties: { b: { description: B., type: boolean, default: true } }, default: null }',
  ],
])('%s can be declared', (_, setting) => {
  expect(parseDeclaration(declare(setting), ['RL', 'SFT'])).toHaveProperty('RL.a.description', 'A.')
})

test.each([
  ['no description', '{ type: boolean, default: false }'],
  ['no default', '{ description: A., type: boolean }'],
  ['a number without a bound', '{ description: A., type: number, minimum: 0, default: 0 }'],
  ['a default of another type', '{ description: A., type: boolean, default: 1 }'],
  ['a default of an object', '{ description: A., properties: {}, default: {} }'],
  ['an unknown effect', '{ description: A., type: boolean, default: false, effect: some }'],
  ['a misspelt key', '{ description: A., type: boolean, default: false, extended: true }'],
])('%s is rejected with the path', (_, setting) => {
  expect(() => parseDeclaration(declare(setting), ['RL', 'SFT'])).toThrow('settings.yaml: /RL/a ')
})
