import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { buildModelLabels, labelValue } from './model-labels.ts'

test('the labels of a model say its names and its BaseModel', () => {
  const model = { entity: 'team', project: 'mail', name: 'Email.v2', baseModelCrName: 'qwen' }
  expect(buildModelLabels(model)).toEqual({
    'trainyard.dev/entity': 'team',
    'trainyard.dev/project': 'mail',
    'trainyard.dev/model': 'Email.v2',
    'trainyard.dev/base-model': 'qwen',
  })
  expect(buildModelLabels({ ...model, baseModelCrName: undefined })).not.toHaveProperty('trainyard.dev/base-model')
})

test.each(['a', 'A.b_c-9', 'x'.repeat(63)])('%s is its own label', (text) => {
  expect(labelValue(text)).toBe(text)
})

test.each(['ends.', '_a', 'x'.repeat(64), 'a/b', '模型', '', `sha256-${'0'.repeat(40)}`])(
  'the label of "%s" is a hash that Kubernetes accepts',
  (text) => {
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 40)
    expect(labelValue(text)).toBe(`sha256-${hash}`)
    expect(labelValue(text).length).toBeLessThanOrEqual(63)
  },
)
