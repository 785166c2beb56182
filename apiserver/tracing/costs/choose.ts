/** What a token costs, with where that is said. */
export interface Price {
  /** Of a project's own. */
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
 * The price of a call: one that was in effect when it started before one that came later, the project's own before the
 * server's, then the newest.
 */
export function choosePrice(prices: readonly Price[], startedAt: string): Price | undefined {
  // Times are texts of one form, which sort as they are.
  const rank = ({ effectiveDate, pricingLevel }: Price) =>
    (effectiveDate <= startedAt ? 0 : 2) + (pricingLevel === 'project' ? 0 : 1)
  const isBetter = (a: Price, b: Price) => rank(a) < rank(b) || (rank(a) === rank(b) && isNewer(a, b))
  return prices.reduce<Price | undefined>((best, price) => (best && !isBetter(price, best) ? best : price), undefined)
}

/** Of those from one moment on, the one that was made last; ids decide between those that were made together. */
function isNewer(a: Price, b: Price): boolean {
  if (a.effectiveDate !== b.effectiveDate) return a.effectiveDate > b.effectiveDate
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt
  return (a.id ?? '') > (b.id ?? '')
}

/** The cost of what a call used of a model, as `summary.weave.costs` has it. */
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

/** The first of the members that is there; 0 where it is no number. */
function readCount(usage: unknown, names: string[]): number {
  if (typeof usage !== 'object' || usage === null) return 0
  const members = usage as Record<string, unknown>
  const given = names.map((name) => members[name] ?? undefined).find((value) => value !== undefined)
  return typeof given === 'number' && Number.isFinite(given) ? Math.trunc(given) : 0
}
