import { expect, test } from 'vitest'
import { ConfigError } from '../../../lib/config.ts'
import { isAllowed, readDefaults } from './defaults.ts'
import { buildBaseModel, nameResource } from './resource.ts'

const setting = { allow: ['Qwen/*'], maximum: 3, maximumPerEntity: 2, baseModel: { engine: { replicas: 0 } } }

test.each([
  ['Qwen/Qwen3-0.6B', ['Qwen/*'], true],
  ['Qwen/Qwen3-0.6B', ['Qwen/Qwen3-*B'], true],
  ['Qwen/Qwen3-0.6B', ['Qwen/Qwen3-0x6B'], false],
  ['Qwen/Qwen3-0x6B', ['Qwen/Qwen3-0.6B'], false],
  ['qwen/Qwen3-0.6B', ['Qwen/*'], false],
  ['evil/Qwen', ['Qwen/*'], false],
  ['any/thing', ['*/*'], true],
  ['Qwen', ['*/*'], false],
  ['Qwen/a/b', ['*/*'], false],
  ['Qwen/../x', ['*/*'], false],
  ['Qwen/..', ['*/*'], false],
  ['Qwen/a..b', ['*/*'], false],
  ['Qwen/a--b', ['*/*'], false],
  ['Qwen/a.', ['*/*'], false],
  ['Qwen/a%2fb', ['*/*'], false],
  ['Qwen/a?b', ['*/*'], false],
  ['Qwen/a\n', ['*/*'], false],
  [`Qwen/${'a'.repeat(96)}`, ['*/*'], false],
])('%s with the patterns %s is allowed: %s', (name, patterns, expected) => {
  expect(isAllowed(name, patterns)).toBe(expected)
})

test('without the setting, no base models are made', () => {
  expect(readDefaults(undefined)).toBeUndefined()
  expect(readDefaults(JSON.stringify(setting))).toEqual(setting)
})

test.each([
  ['not JSON', '{', 'is not JSON'],
  ['a pattern without an organisation', JSON.stringify({ ...setting, allow: ['*'] }), '/allow/0'],
  ['no maximum', JSON.stringify({ ...setting, maximum: undefined }), 'maximum'],
  ['a source of its own', JSON.stringify({ ...setting, baseModel: { source: { path: 'a' } } }), '/baseModel'],
])('%s is bad configuration, with its path', (_, text, path) => {
  expect(() => readDefaults(text)).toThrow(ConfigError)
  expect(() => readDefaults(text)).toThrow(path)
})

test('the resource of an id has a name of at most 40 characters, another one for each id', () => {
  const names = ['Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0-6B', 'qwen/Qwen3-0.6B', `a/${'b'.repeat(90)}`].map(nameResource)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/)
  expect(names[0]).toMatch(/^qwen-qwen3-0-6b-[0-9a-f]{12}$/)
})

test('a base model that is made has the template, its id as the only name, a commit, and runs no code of the hub', () => {
  const wanted = { name: 'Qwen/Qwen3-0.6B', namespace: 'ns', entity: 'team', revision: 'a'.repeat(40), lora: undefined }
  expect(buildBaseModel(wanted, setting)).toEqual({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'BaseModel',
    metadata: {
      name: nameResource('Qwen/Qwen3-0.6B'),
      namespace: 'ns',
      labels: { 'trainyard.dev/made-from': 'defaults', 'trainyard.dev/entity': 'team' },
    },
    spec: {
      names: ['Qwen/Qwen3-0.6B'],
      source: { hub: { id: 'Qwen/Qwen3-0.6B', revision: 'a'.repeat(40) }, trustRemoteCode: false },
      engine: { replicas: 0 },
    },
  })
  const lora = { rank: 4, alpha: 8 }
  expect(buildBaseModel({ ...wanted, lora }, { ...setting, baseModel: { lora: { rank: 16 } } }).spec.lora).toEqual(lora)
})
