import { expect, test } from 'vitest'
import { describeProperties } from './crd-properties.ts'
import { describeListRules, describeMethodRules } from './crd-rules.ts'
import { parseDeclaration } from './declaration.ts'

const rate = 'type: number, minimum: 0, maximum: 1'
const declaration = parseDeclaration(
  `
RL:
  learning_rate: { description: A rate., ${rate}, default: 5.0e-6 }
  clip_high: { description: Above \`learning_rate\`., ${rate}, default: null }
  level: { description: A level., enum: [token, sequence], default: token, otherDefault: sequence with \`clip_high\` }
SFT:
  learning_rate:
    { description: A rate., ${rate}, default: 5.0e-5, list: { description: One for each batch., minItems: 1, maxItems: 9 } }
  batch_size: { description: Rows., type: integer, minimum: 1, maximum: 100, default: 2 }
  seed: { description: A seed., type: integer, minimum: 0, maximum: 9, default: null, effect: none }
  report_to:
    description: A report.
    default: null
    properties: { is_on: { description: Whether., type: boolean, default: false }, at: { description: When., ${rate}, default: null } }
`,
  ['RL', 'SFT'],
)
const bounds = { type: 'number', minimum: 0, maximum: 1 }

test('properties have the names, types and bounds of the settings', () => {
  expect(describeProperties(declaration)).toEqual({
    learningRate: { description: 'A rate. Default: 5e-6 (RL), 5e-5 (SFT).', ...bounds },
    learningRates: {
      description: 'SFT, instead of `learningRate`: One for each batch.',
      type: 'array',
      minItems: 1,
      maxItems: 9,
      items: { description: 'One value of `learningRate`.', ...bounds },
    },
    clipHigh: { description: 'RL: Above `learningRate`.', ...bounds },
    level: {
      description: 'RL: A level. Default: token (sequence with `clipHigh`).',
      type: 'string',
      enum: ['token', 'sequence'],
    },
    batchSize: {
      description: 'SFT: Rows. Default: 2.',
      type: 'integer',
      format: 'int32',
      minimum: 1,
      maximum: 100,
    },
    seed: {
      description: 'SFT: Accepted, without effect: A seed.',
      type: 'integer',
      format: 'int32',
      minimum: 0,
      maximum: 9,
    },
    reportTo: {
      description: 'SFT: A report.',
      type: 'object',
      properties: { isOn: { description: 'Whether.', type: 'boolean' }, at: { description: 'When.', ...bounds } },
    },
  })
})

test('rules reject data and settings of other methods, and a list together with its number', () => {
  expect([...describeMethodRules(declaration), ...describeListRules(declaration)]).toEqual([
    {
      rule: "self.method != 'RL' || (has(self.inputRef.digest) && self.inputRef.uri.startsWith('artifact:///'))",
      message: 'RL trains on trajectory groups in the artifact store, an artifact:/// address with its digest',
    },
    {
      rule: "self.method != 'RL' || !has(self.config) || !(has(self.config.learningRates) || has(self.config.batchSize) || has(self.config.seed) || has(self.config.reportTo))",
      message: 'RL does not have learningRates, batchSize, seed or reportTo',
    },
    {
      rule: "self.method != 'SFT' || !has(self.config) || !(has(self.config.clipHigh) || has(self.config.level))",
      message: 'SFT does not have clipHigh or level',
    },
    {
      rule: '!(has(self.learningRate) && has(self.learningRates))',
      message: 'learningRate and learningRates exclude each other',
    },
  ])
})

test('two methods cannot declare one name differently', () => {
  const { RL, SFT } = declaration
  const contrary = { ...declaration, SFT: { ...SFT, level: { ...RL['level']!, description: 'Another.' } } }
  expect(() => describeProperties(contrary)).toThrow(
    'level must have the same description, type and bounds in RL and SFT',
  )
})
