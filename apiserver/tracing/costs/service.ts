import { deleteCosts, insertCosts, listCostsOf, type CostRow } from '../../../db/tracing/costs.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import type { Pool } from '../../../db/pool.ts'
import type { DefaultPrices } from './default-prices.ts'
import { newId } from '../ids.ts'
import { parseInstant } from '../instants.ts'
import type { Project } from '../projects.ts'
import { choosePrice, presentCost, type Price } from './choose.ts'
import type { WireCost } from './schema.ts'

export interface CostDeps {
  pool: Pool
  /** For models that have no price in the project. */
  prices: DefaultPrices
}

/** Stores the costs of models. Returns the new ids, each with its model. */
export async function createCosts(
  pool: Pool,
  project: Project,
  { costs, createdBy }: { costs: Record<string, WireCost>; createdBy: string },
): Promise<[id: string, llmId: string][]> {
  const rows = Object.entries(costs).map(([llmId, wire]) => ({ id: newId(), llmId, createdBy, ...readCost(wire) }))
  await insertCosts(pool, project.number, rows)
  return rows.map(({ id, llmId }) => [id, llmId])
}

function readCost(wire: WireCost) {
  return {
    providerId: wire.provider_id || 'default',
    effectiveDate: wire.effective_date ? parseInstant(wire.effective_date)! : null,
    promptTokenCost: wire.prompt_token_cost,
    completionTokenCost: wire.completion_token_cost,
    promptTokenCostUnit: readUnit(wire.prompt_token_cost_unit),
    completionTokenCostUnit: readUnit(wire.completion_token_cost_unit),
    cacheReadInputTokenCost: wire.cache_read_input_token_cost ?? 0,
    cacheCreationInputTokenCost: wire.cache_creation_input_token_cost ?? 0,
  }
}

/** US dollars, unless a client sends null. */
function readUnit(unit: string | null | undefined): string | null {
  return unit === undefined ? 'USD' : unit
}

export async function purgeCosts(pool: Pool, project: Project, ids: string[]): Promise<void> {
  await deleteCosts(pool, project.number, ids)
}

/** The usage of a call: the value of its `summary.usage`, an object by models. */
export interface UsedTokens {
  /** In the stored form of times. */
  startedAt: string
  usage: unknown
}

/** The cost of a call by models, as `summary.weave.costs` has it. */
export type CallCosts = Record<string, ReturnType<typeof presentCost>>

/** Computes the cost of each call. Undefined if none of its models has a price. */
export async function costsOfCalls(
  deps: CostDeps,
  project: Project,
  calls: UsedTokens[],
): Promise<(CallCosts | undefined)[]> {
  const used = calls.map(({ usage }) => listModels(usage))
  const prices = await findPrices(deps, project, new Set(used.flat()))
  return calls.map(({ startedAt, usage }, index) => {
    const costs = used[index]!.flatMap((llmId) => {
      const price = choosePrice(prices.get(llmId) ?? [], startedAt)
      return price ? [[llmId, presentCost((usage as Record<string, unknown>)[llmId], price)] as const] : []
    })
    return costs.length > 0 ? Object.fromEntries(costs) : undefined
  })
}

function listModels(usage: unknown): string[] {
  return isObject(usage) ? Object.keys(usage) : []
}

async function findPrices(
  { pool, prices }: CostDeps,
  project: Project,
  llmIds: ReadonlySet<string>,
): Promise<Map<string, Price[]>> {
  if (llmIds.size === 0) return new Map()
  const found = await prices.find(llmIds)
  const own = Map.groupBy(await listCostsOf(pool, project.number, [...llmIds]), ({ llmId }) => llmId)
  for (const [llmId, rows] of own) {
    found.set(llmId, [...(found.get(llmId) ?? []), ...rows.map((row) => toPrice(row, project))])
  }
  return found
}

function toPrice(row: CostRow, project: Project): Price {
  return { ...row, pricingLevel: 'project', pricingLevelId: project.id }
}
