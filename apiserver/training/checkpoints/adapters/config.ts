import { isObject } from '../../../../lib/json/is-object.ts'
import { parseText } from '../../../../lib/json/parse-text.ts'
import { invalidAdapter } from './invalid.ts'

/** What an adapter_config.json says. */
export interface AdapterConfig {
  rank: number
  /** What the product of a layer's matrices is multiplied by. */
  scale: number
  /** The ends of the names of the layers that have an adapter. */
  targets: readonly string[]
  /** The base model's name or folder. */
  base: string
}

/** What a base model allows. */
export interface AdapterBounds {
  /** Its names, and the name or path of its source. */
  bases: readonly string[]
  maxRank: number
  /** The layers that training adapts. Undefined for every linear layer. */
  targets: readonly string[] | undefined
}

export const configFile = 'adapter_config.json'
const maxTargets = 64

// They make an adapter more than plain LoRA, or name something to load. The trainer has the same list.
export const extras = [
  'alpha_pattern',
  'auto_mapping',
  'corda_config',
  'eva_config',
  'exclude_modules',
  'fan_in_fan_out',
  'layer_replication',
  'layers_pattern',
  'layers_to_transform',
  'lora_bias',
  'loftq_config',
  'megatron_config',
  'modules_to_save',
  'rank_pattern',
  'target_parameters',
  'trainable_token_indices',
  'use_dora',
  'use_qalora',
]

/** Reads the configuration of a plain LoRA adapter of a base model. @throws {HttpError} 422 for any other */
export function readAdapterConfig(text: string, bounds: AdapterBounds): AdapterConfig {
  const config = parse(text)
  if (config['peft_type'] !== 'LORA') throw invalidConfig('peft_type must be LORA')
  if (![undefined, null, 'none'].includes(config['bias'] as null)) throw invalidConfig('bias must be none')
  const extra = extras.find((name) => isSet(config[name]))
  if (extra !== undefined)
    throw invalidConfig(`${extra} is not supported. Only plain LoRA is: remove it, or set it to null`)
  const alpha = config['lora_alpha']
  if (typeof alpha !== 'number' || !Number.isFinite(alpha)) throw invalidConfig('lora_alpha must be a number')
  const rank = readRank(config['r'], bounds)
  return {
    rank,
    scale: alpha / (isSet(config['use_rslora']) ? Math.sqrt(rank) : rank),
    targets: readTargets(config['target_modules'], bounds),
    base: readBase(config['base_model_name_or_path'], bounds),
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = parseText(text)
    if (isObject(value)) return value
  } catch {
    // Below.
  }
  throw invalidConfig('it is not a JSON object')
}

/** Empty values count as absent, as in Python. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value)
}

function readRank(rank: unknown, { maxRank }: AdapterBounds): number {
  if (Number.isInteger(rank) && (rank as number) >= 1 && (rank as number) <= maxRank) return rank as number
  throw invalidConfig(`r must be from 1 to ${maxRank}, which is the maximum of the base model's engines`)
}

function readTargets(targets: unknown, bounds: AdapterBounds): string[] {
  const isName = (name: unknown) => typeof name === 'string' && name.length > 0 && name.length <= 200
  if (!Array.isArray(targets) || targets.length === 0 || targets.length > maxTargets || !targets.every(isName))
    throw invalidConfig(`target_modules must be a list of 1 to ${maxTargets} names of layers`)
  const names = targets as string[]
  const other = bounds.targets && names.find((name) => !bounds.targets!.includes(name))
  if (other === undefined) return names
  const allowed = bounds.targets!.join(', ')
  throw invalidConfig(`target_modules has ${JSON.stringify(other)}. The base model is trained in ${allowed}`)
}

/** A folder counts by its last part, so that an adapter of a downloaded model fits. */
function readBase(base: unknown, { bases }: AdapterBounds): string {
  const known = new Set(bases.flatMap((name) => [name, lastPart(name)]).map((name) => name.toLowerCase()))
  if (typeof base === 'string' && [base, lastPart(base)].some((name) => known.has(name.toLowerCase()))) return base
  throw invalidConfig(
    `base_model_name_or_path is ${JSON.stringify(base ?? null).slice(0, 200)}. The model is trained on ${bases[0]}`,
  )
}

function lastPart(path: string): string {
  return path.replace(/\/+$/, '').split('/').at(-1)!
}

function invalidConfig(reason: string) {
  return invalidAdapter(`${configFile}: ${reason}`)
}
