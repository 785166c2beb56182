import { describe, expect, test } from 'vitest'
import { choosePrice, presentCost, type Price } from './choose.ts'

const at = (day: string) => `2026-01-${day}T00:00:00.000000Z`
const priceOf = (effectiveDate: string, pricingLevel: Price['pricingLevel']): Price => ({
  providerId: 'p',
  effectiveDate,
  promptTokenCost: 2,
  completionTokenCost: 0.5,
  promptTokenCostUnit: 'USD',
  completionTokenCostUnit: 'EUR',
  pricingLevel,
  pricingLevelId: pricingLevel,
  createdBy: 'me',
  createdAt: at('01'),
})
const own = (day: string) => priceOf(at(day), 'project')
const made = (day: string, id: string): Price => ({ ...own('08'), id, createdAt: at(day) })
const listed = (day: string) => priceOf(at(day), 'default')

describe('the price of a call that started on the 10th', () => {
  test.each<[string, Price[], Price | undefined]>([
    ['is missing if there is no price', [], undefined],
    ['is the newest price that was in effect', [own('01'), own('08'), own('05')], own('08')],
    ['is a price that begins at the same time', [own('09'), own('10')], own('10')],
    ["is the project's, even if it is older", [listed('09'), own('01')], own('01')],
    ["is the server's if the project's began later", [own('11'), listed('01')], listed('01')],
    ['is a later price if there is no earlier one', [listed('12')], listed('12')],
    ["is the project's among later prices", [listed('20'), own('11'), own('15')], own('15')],
    [
      'is the one created last among prices with the same date',
      [made('05', 'b'), made('06', 'a'), made('04', 'c')],
      made('06', 'a'),
    ],
    [
      'is chosen by id among prices that were created at the same time',
      [made('05', 'b'), made('05', 'c'), made('05', 'a')],
      made('05', 'c'),
    ],
  ])('%s', (_name, prices, expected) => {
    expect(choosePrice(prices, at('10'))).toEqual(expected)
    expect(choosePrice(prices.toReversed(), at('10'))).toEqual(expected)
  })
})

describe('the cost of the usage of a call', () => {
  test('includes its price', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 4, requests: 2, total_tokens: 14 }
    expect(presentCost(usage, own('01'))).toEqual({
      ...usage,
      prompt_token_cost: 2,
      completion_token_cost: 0.5,
      prompt_tokens_total_cost: 20,
      completion_tokens_total_cost: 2,
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: 'EUR',
      effective_date: at('01'),
      provider_id: 'p',
      pricing_level: 'project',
      pricing_level_id: 'project',
      created_by: 'me',
      created_at: at('01'),
    })
  })

  test.each<[string, unknown, [number, number]]>([
    ['tokens under other names', { input_tokens: 3, output_tokens: 5 }, [3, 5]],
    [
      'both names: the first one',
      { prompt_tokens: 1, input_tokens: 3, completion_tokens: 0, output_tokens: 5 },
      [1, 0],
    ],
    ['null under the first name', { prompt_tokens: null, input_tokens: 3 }, [3, 0]],
    ['a text', { prompt_tokens: '3' }, [0, 0]],
    ['a fraction', { prompt_tokens: 3.7 }, [3, 0]],
    ['a usage that is not an object', 7, [0, 0]],
    ['nothing', null, [0, 0]],
  ])('counts %s', (_name, usage, [prompt, completion]) => {
    expect(presentCost(usage, own('01'))).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion })
  })
})
