import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../../../lib/config.ts'
import { readPrices } from './prices.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'prices-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = path.join(folder, 'prices.json')

function read(content: unknown) {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return Object.fromEntries(readPrices(file))
}

const price = {
  providerId: 'default',
  effectiveDate: '1970-01-01T00:00:00.000000Z',
  promptTokenCost: 0,
  completionTokenCost: 0,
  cacheReadInputTokenCost: 0,
  cacheCreationInputTokenCost: 0,
}

describe('a file of prices', () => {
  test("in LiteLLM's form", () => {
    const list = {
      sample_spec: { input_cost_per_token: 0, litellm_provider: 'one of these' },
      'gpt-4': { input_cost_per_token: 3e-5, output_cost_per_token: 6e-5, litellm_provider: 'openai', mode: 'chat' },
      claude: {
        input_cost_per_token: 3e-6,
        output_cost_per_token: null,
        cache_read_input_token_cost: 3e-7,
        cache_creation_input_token_cost: 3.75e-6,
      },
      'dall-e': { input_cost_per_pixel: 1, litellm_provider: 'openai' },
      __proto__x: { output_cost_per_token: 1 },
    }
    expect(read(list)).toEqual({
      'gpt-4': [{ ...price, providerId: 'openai', promptTokenCost: 3e-5, completionTokenCost: 6e-5 }],
      claude: [
        { ...price, promptTokenCost: 3e-6, cacheReadInputTokenCost: 3e-7, cacheCreationInputTokenCost: 3.75e-6 },
      ],
      __proto__x: [{ ...price, completionTokenCost: 1 }],
    })
  })

  test("in weave's form", () => {
    const dated = [
      { provider: 'openai', input: 5e-6, output: 1.5e-5, created_at: '2024-10-08 08:45:39' },
      { input: 2.5e-6, output: 1e-5 },
    ]
    expect(read({ 'gpt-4o': dated, empty: [] })).toEqual({
      'gpt-4o': [
        {
          ...price,
          providerId: 'openai',
          effectiveDate: '2024-10-08T08:45:39.000000Z',
          promptTokenCost: 5e-6,
          completionTokenCost: 1.5e-5,
        },
        { ...price, promptTokenCost: 2.5e-6, completionTokenCost: 1e-5 },
      ],
    })
  })

  test.each<[string, unknown, string]>([
    ['a text that is not JSON', '{', 'is no JSON'],
    ['a list', [], 'is not a JSON object'],
    ['an entry that is a number', { a: 1 }, 'has no prices for "a"'],
    ['an entry without prices', { a: [1] }, 'has no prices for "a"'],
    ['a price that is a text', { a: { input_cost_per_token: '1' } }, 'has an invalid input_cost_per_token for "a"'],
    ['a price below zero', { a: [{ input: -1, output: 0 }] }, 'has an invalid input for "a"'],
    [
      'a price that is too large',
      '{"a":{"output_cost_per_token":1e999}}',
      'has an invalid output_cost_per_token for "a"',
    ],
    ['an invalid provider', { a: { input_cost_per_token: 1, litellm_provider: 1 } }, 'has an invalid litellm_provider'],
    ['an invalid date', { a: [{ input: 1, output: 1, created_at: 'soon' }] }, 'has an invalid created_at for "a"'],
  ])('is rejected with %s', (_name, content, why) => {
    expect(() => read(content)).toThrow(ConfigError)
    expect(() => read(content)).toThrow(
      `the file of TRAINYARD_TRACING_PRICES ${why.startsWith('no ') ? 'has ' : ''}${why}`,
    )
  })

  test('is rejected if it does not exist', () => {
    expect(() => readPrices(path.join(folder, 'none'))).toThrow(
      new ConfigError('bad configuration: the file of TRAINYARD_TRACING_PRICES cannot be read'),
    )
  })
})
