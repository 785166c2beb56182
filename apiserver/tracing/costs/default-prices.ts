import type { Pool } from '../../../db/pool.ts'
import { listBaseModels } from '../../../db/base-models/base-models.ts'
import type { Price } from './choose.ts'
import { firstDate, type ListedPrice, type PriceList } from './prices.ts'

// Base models are added and removed as Kubernetes resources.
const keptMs = 30_000
const own: ListedPrice = {
  providerId: 'trainyard',
  effectiveDate: firstDate,
  promptTokenCost: 0,
  completionTokenCost: 0,
  cacheReadInputTokenCost: 0,
  cacheCreationInputTokenCost: 0,
}

/**
 * Model prices for projects without a price of their own. They come from a price list. Base models that are served here
 * are free.
 */
export class DefaultPrices {
  readonly #list: PriceList
  readonly #pool: Pool
  #served: { names: ReadonlySet<string>; untilMs: number } = { names: new Set(), untilMs: -Infinity }

  /** @param pool of the base models, which may be in another database than traces */
  constructor(list: PriceList, pool: Pool) {
    this.#list = list
    this.#pool = pool
  }

  /** Finds prices by exact model name. Models without a price are left out. */
  async find(llmIds: Iterable<string>): Promise<Map<string, Price[]>> {
    const found = new Map<string, Price[]>()
    for (const llmId of llmIds) {
      const listed = this.#list.get(llmId) ?? ((await this.#isServed(llmId)) ? [own] : [])
      if (listed.length > 0) found.set(llmId, listed.map(toPrice))
    }
    return found
  }

  async #isServed(name: string): Promise<boolean> {
    if (this.#served.untilMs < performance.now()) {
      const models = await listBaseModels(this.#pool)
      this.#served = { names: new Set(models.flatMap(({ names }) => names)), untilMs: performance.now() + keptMs }
    }
    return this.#served.names.has(name)
  }
}

function toPrice(listed: ListedPrice): Price {
  return {
    ...listed,
    promptTokenCostUnit: 'USD',
    completionTokenCostUnit: 'USD',
    pricingLevel: 'default',
    pricingLevelId: 'default',
    createdBy: 'system',
    createdAt: listed.effectiveDate,
  }
}
