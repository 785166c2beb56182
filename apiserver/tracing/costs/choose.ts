/** The price of a model's tokens, and where it was set. */
export interface Price {
  /** Undefined for default prices. */
  id?: string
  providerId: string
  effectiveDate: string
  promptTokenCost: number
  completionTokenCost: number
  promptTokenCostUnit: string | null
  completionTokenCostUnit: string | null
  pricingLevel: 'project' | 'default'
  pricingLevelId: string
  createdBy: string
  createdAt: string
}

/**
 * Chooses the price of a call. A price in effect at the call's start wins over one that came into effect later. Then
 * the project's own price wins over the default, and then the newest price wins.
 */
export function choosePrice(prices: readonly Price[], startedAt: string): Price | undefined {
  // The times have one form, so that they can be compared as strings.
  const rank = ({ effectiveDate, pricingLevel }: Price) =>
    (effectiveDate <= startedAt ? 0 : 2) + (pricingLevel === 'project' ? 0 : 1)
  const isBetter = (a: Price, b: Price) => rank(a) < rank(b) || (rank(a) === rank(b) && isNewer(a, b))
  return prices.reduce<Price | undefined>((best, price) => (best && !isBetter(price, best) ? best : price), undefined)
}

/** Compares by effective date, then by creation time, then by id. */
function isNewer(a: Price, b: Price): boolean {
  if (a.effectiveDate !== b.effectiveDate) return a.effectiveDate > b.effectiveDate
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt
  return (a.id ?? '') > (b.id ?? '')
}

/** Presents the cost of a call's usage of one model, as `summary.weave.costs` has it. */
export function presentCost(usage: unknown, price: Price) {
  const count = (...names: string[]) => readCount(usage, names)
  const promptTokens = count('prompt_tokens', 'input_tokens')
  const completionTokens = count('completion_tokens', 'output_tokens')
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    requests: count('requests'),
    total_tokens: count('total_tokens'),
    prompt_token_cost: price.promptTokenCost,
    completion_token_cost: price.completionTokenCost,
    prompt_tokens_total_cost: promptTokens * price.promptTokenCost,
    completion_tokens_total_cost: completionTokens * price.completionTokenCost,
    prompt_token_cost_unit: price.promptTokenCostUnit,
    completion_token_cost_unit: price.completionTokenCostUnit,
    effective_date: price.effectiveDate,
    provider_id: price.providerId,
    pricing_level: price.pricingLevel,
    pricing_level_id: price.pricingLevelId,
    created_by: price.createdBy,
    created_at: price.createdAt,
  }
}

/** Reads the first member that exists. 0 if it is not a number. */
function readCount(usage: unknown, names: string[]): number {
  if (typeof usage !== 'object' || usage === null) return 0
  const members = usage as Record<string, unknown>
  const given = names.map((name) => members[name] ?? undefined).find((value) => value !== undefined)
  return typeof given === 'number' && Number.isFinite(given) ? Math.trunc(given) : 0
}
