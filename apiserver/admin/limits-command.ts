import { findEntityLimits, saveEntityLimits, type EntityLimits } from '../../db/queries/entities.ts'
import type { Pool } from '../../db/pool.ts'
import type { TokenStatisticsSetting } from '../../db/queries/token-statistics.ts'
import { CommandError, readArguments, type PreparedCommand, type Printed } from './command.ts'
import { formatTable } from './table.ts'

const limitNames = {
  'requests-per-minute': 'requestsPerMinute',
  'concurrent-streams': 'concurrentStreams',
  'queued-jobs': 'queuedJobs',
  'stored-bytes': 'storedBytes',
  'payload-days': 'payloadDays',
  'token-statistics': 'tokenStatistics',
} as const satisfies Record<string, keyof EntityLimits>

type Option = keyof typeof limitNames
const optionNames = Object.keys(limitNames) as Option[]

const statisticsSettings: TokenStatisticsSetting[] = ['off', 'sampled', 'all']
const settings = statisticsSettings.join('|')

const usage = `usage: npm run limits -- ENTITY [${optionNames.map((name) => `--${name} ${isLimit(name) ? 'N' : settings}`).join('] [')}]
       N is a number; "default" is what the installation sets; what is not named stays as it is.`

const options = Object.fromEntries(optionNames.map((name) => [name, { type: 'string' }])) as Record<
  Option,
  { type: 'string' }
>
const largestInteger = 2_147_483_647

/** Sets limits of an entity and what is kept of it, and shows what is set. */
export function prepareLimitsCommand(args: string[]): PreparedCommand {
  const { entity, values } = readArguments(args, options, usage)
  const given = Object.entries(values) as [Option, string][]
  const changes = Object.fromEntries(given.map(([name, text]) => [limitNames[name], parseOption(name, text)]))
  return (pool) => changeLimits(pool, entity, changes)
}

async function changeLimits(pool: Pool, entity: string, changes: Partial<EntityLimits>): Promise<Printed> {
  const limits = { ...(await findEntityLimits(pool, entity)), ...changes }
  if (Object.keys(changes).length > 0) await saveEntityLimits(pool, entity, limits)
  const rows = optionNames.map((name) => ({ LIMIT: name, [entity]: String(limits[limitNames[name]] ?? 'default') }))
  return { output: formatTable(rows) }
}

function isLimit(name: Option): boolean {
  return name !== 'token-statistics'
}

function parseOption(name: Option, text: string): number | TokenStatisticsSetting | null {
  if (text === 'default') return null
  return isLimit(name) ? parseLimit(name, text) : parseSetting(name, text)
}

function parseSetting(name: Option, text: string): TokenStatisticsSetting {
  const setting = statisticsSettings.find((known) => known === text)
  if (setting) return setting
  throw new CommandError(`--${name} takes ${statisticsSettings.join(', ')} or "default", not "${text}".`)
}

function parseLimit(name: Option, text: string): number {
  const most = name === 'stored-bytes' ? Number.MAX_SAFE_INTEGER : largestInteger
  const limit = /^\d+$/.test(text) ? Number(text) : undefined
  if (limit !== undefined && limit <= most) return limit
  throw new CommandError(`--${name} takes a whole number up to ${most}, or "default", not "${text}".`)
}
