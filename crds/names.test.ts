import { expect, test } from 'vitest'
import { isAlias, resourceName } from './names.ts'
import { specDigest } from './spec-digest.ts'

const id = '0f9b5c1e-8a71-4d51-9c1c-4d6f2a3b1c0d'

test.each([
  ['email', 'email-4d6f2a3b1c0d'],
  ['My Model_7', 'my-model-7-4d6f2a3b1c0d'],
  ['模型', 'x-4d6f2a3b1c0d'],
  ['--a--', 'a-4d6f2a3b1c0d'],
  [`${'a'.repeat(39)}.b`, `${'a'.repeat(39)}-4d6f2a3b1c0d`],
])('the resource of %s is named %s', (name, expected) => {
  expect(resourceName(name, id)).toBe(expected)
})

test.each(['best', 'steps', 'v1beta', 'Latest-2', 'a.b_c', 'a'.repeat(63)])('%s can be an alias', (text) => {
  expect(isAlias(text)).toBe(true)
})

test.each(['latest', 'Latest', 'step', 'step12', 'step-1', 'Step.3', 'v3', '1st', '', 'a b', 'a:b', 'a'.repeat(64)])(
  '"%s" cannot be an alias, because addresses use it or it is malformed',
  (text) => {
    expect(isAlias(text)).toBe(false)
  },
)

test('a job is identified by its training input and settings, in any order of members', () => {
  const inputRef = { uri: 'artifact:///payloads/a/b.json', digest: 'd' }
  const spec = { modelRef: { name: 'm' }, method: 'RL' as const, inputRef, config: { ppo: true, epsilon: 0.2 } }
  const reordered = { config: { epsilon: 0.2, ppo: true }, inputRef, method: 'RL' as const, modelRef: { name: 'm' } }
  expect(specDigest(reordered)).toBe(specDigest(spec))
  expect(specDigest({ ...spec, config: { ppo: false, epsilon: 0.2 } })).not.toBe(specDigest(spec))
})

test('facts that do not change the training do not change the job', () => {
  const spec = { modelRef: { name: 'm' }, method: 'RL' as const, inputRef: { uri: 'u', digest: 'd' } }
  const other = { ...spec, config: {}, cancel: true, ttlSecondsAfterFinished: 7 }
  expect(specDigest(other)).toBe(specDigest(spec))
})
