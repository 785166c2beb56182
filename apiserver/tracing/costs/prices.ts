import { readFileSync } from 'node:fs'
import { ConfigError } from '../../../lib/config.ts'
import { isObject } from '../../../lib/json/is-object.ts'
import { parseInstant } from '../instants.ts'

/** The price of a model's tokens from a date on. It applies to all projects without a cost of their own. */
export interface ListedPrice {
  providerId: string
  effectiveDate: string
  promptTokenCost: number
  completionTokenCost: number
  cacheReadInputTokenCost: number
  cacheCreationInputTokenCost: number
}

/** Prices by exact model name. */
export type PriceList = ReadonlyMap<string, readonly ListedPrice[]>

const variable = 'TRAINYARD_TRACING_PRICES'
/** The effective date of prices without a date. */
export const firstDate = '1970-01-01T00:00:00.000000Z'
// LiteLLM's file documents its format in an entry of this name.
const example = 'sample_spec'

type Members = Record<string, unknown>

/**
 * Reads a file of prices in US dollars for each token: LiteLLM's public file, or weave's, which has dates.
 *
 * @throws {ConfigError} for a file that cannot be read, or that has another form
 */
export function readPrices(file: string): PriceList {
  const list = parsePrices(readText(file))
  if (!isObject(list)) throw bad('is not a JSON object')
  const models = Object.entries(list).filter(([model]) => model !== example)
  return new Map(
    models.map(([model, entry]) => [model, readEntry(model, entry)] as const).filter(([, { length }]) => length > 0),
  )
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw bad('cannot be read', cause)
  }
}

function parsePrices(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw bad('is no JSON', cause)
  }
}

function readEntry(model: string, entry: unknown): ListedPrice[] {
  if (Array.isArray(entry)) return entry.map((price) => readDated(model, price))
  if (isObject(entry)) return readUndated(model, entry)
  throw bad(`has no prices for ${JSON.stringify(model)}`)
}

function readUndated(model: string, entry: Members): ListedPrice[] {
  const cost = (name: string) => readCost(model, entry, name)
  const [prompt, completion] = [cost('input_cost_per_token'), cost('output_cost_per_token')]
  // The file also lists models that are paid for by images, seconds or characters.
  if (prompt === undefined && completion === undefined) return []
  return [
    {
      providerId: readName(model, entry, 'litellm_provider') ?? 'default',
      effectiveDate: firstDate,
      promptTokenCost: prompt ?? 0,
      completionTokenCost: completion ?? 0,
      cacheReadInputTokenCost: cost('cache_read_input_token_cost') ?? 0,
      cacheCreationInputTokenCost: cost('cache_creation_input_token_cost') ?? 0,
    },
  ]
}

function readDated(model: string, entry: unknown): ListedPrice {
  if (!isObject(entry)) throw bad(`has no prices for ${JSON.stringify(model)}`)
  const date = readName(model, entry, 'created_at')
  const effectiveDate = date === undefined ? firstDate : parseInstant(date)
  if (effectiveDate === undefined) throw wrong(model, 'created_at')
  return {
    providerId: readName(model, entry, 'provider') ?? 'default',
    effectiveDate,
    promptTokenCost: readCost(model, entry, 'input') ?? 0,
    completionTokenCost: readCost(model, entry, 'output') ?? 0,
    cacheReadInputTokenCost: 0,
    cacheCreationInputTokenCost: 0,
  }
}

function readCost(model: string, entry: Members, name: string): number | undefined {
  const cost = entry[name] ?? undefined
  if (cost === undefined || (typeof cost === 'number' && Number.isFinite(cost) && cost >= 0)) return cost
  throw wrong(model, name)
}

function readName(model: string, entry: Members, name: string): string | undefined {
  const text = entry[name] ?? undefined
  if (text === undefined || typeof text === 'string') return text
  throw wrong(model, name)
}

function wrong(model: string, name: string): ConfigError {
  return bad(`has an invalid ${name} for ${JSON.stringify(model)}`)
}

function bad(why: string, cause?: unknown): ConfigError {
  return new ConfigError(`bad configuration: the file of ${variable} ${why}`, { cause })
}
