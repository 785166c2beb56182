import { expect, test } from 'vitest'
import { readFile } from 'node:fs/promises'
import { isKey } from '../../artifacts/store/keys.ts'
import { isName, isReservedEntity } from './names.ts'

test.each<[string, boolean]>([
  ['a', true],
  ['A1', true],
  ['my.team-1_x', true],
  ['a.', true],
  ['a.b.c', true],
  ['a..b', false],
  ['a...', false],
  ['..', false],
  ['.a', false],
  ['-a', false],
  ['a/b', false],
  ['a b', false],
  ['', false],
  ['a'.repeat(128), true],
  ['a'.repeat(129), false],
])('%j can be a name: %s', (name, expected) => {
  expect(isName(name)).toBe(expected)
  if (expected) expect(isKey(`payloads/${name}/0a.json`)).toBe(true)
})

test.each([
  ['calls', true],
  ['Calls', true],
  ['callers', false],
])('no entity has the name of a path of the service: %s %s', (name, expected) => {
  expect(isReservedEntity(name)).toBe(expected)
})

test('any invalid name is rejected quickly', () => {
  expect(isName(`${'a.'.repeat(63)}!`)).toBe(false)
})

test('the Model resource has the same rule', async () => {
  const yaml = await readFile('crds/models.yaml', 'utf8')
  const [, pattern = ''] = /entity: &name-part[^]*?pattern: '(.*)'/.exec(yaml) ?? []
  for (const name of ['a.b', 'a..b', '.a', 'a_-.'])
    expect([name, new RegExp(pattern).test(name)]).toEqual([name, isName(name)])
})
