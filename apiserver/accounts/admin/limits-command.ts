import { changeEntityLimits, findEntityLimits, type EntityLimits, type SetLimits } from '../../../db/accounts/limits.ts'
import { withInvalidation } from '../../../db/changes.ts'
import type { Pool } from '../../../db/pool.ts'
import type { TokenStatisticsSetting } from '../../../db/jobs/token-statistics.ts'
import { applyDefaults } from '../limits/limits.ts'
import { noLimit } from '../../../lib/limit-setting.ts'
import { maxInteger, maxTokensPerMinute } from '../limits/settings.ts'
import { CommandError, readArguments, requireEntityName, type PreparedCommand, type Printed } from './command.ts'
import { loadLimitDefaults } from './config.ts'
import { formatTable } from './table.ts'
import { readTraceProject, traceProjectOptions, traceProjectUsage } from './trace-project-option.ts'

const limitNames = {
  'requests-per-minute': 'requestsPerMinute',
  'tokens-per-minute': 'tokensPerMinute',
  'concurrent-streams': 'concurrentStreams',
  'event-streams': 'eventStreams',
  'queued-jobs': 'queuedJobs',
  'stored-bytes': 'storedBytes',
  'gpu-seconds-per-day': 'gpuSecondsPerDay',
  'payload-days': 'payloadDays',
  'run-days': 'runDays',
  weight: 'weight',
  'token-statistics': 'tokenStatistics',
} as const satisfies Record<string, keyof EntityLimits>

type Option = keyof typeof limitNames
const optionNames = Object.keys(limitNames) as Option[]

const statisticsSettings: TokenStatisticsSetting[] = ['off', 'sampled', 'all']
const [lightest, heaviest] = [1, 100]
const largest: Partial<Record<Option, number>> = {
  'stored-bytes': Number.MAX_SAFE_INTEGER,
  'tokens-per-minute': maxTokensPerMinute,
}

const usages = [...optionNames.map((name) => `--${name} ${valuesOf(name)}`), traceProjectUsage]

export const limitsUsage = `usage: npm run limits -- ENTITY [${usages.join('] [')}]
       N is a number. "${noLimit}" means no limit, and "default" the installation's default. Limits that are not named do not change.`

const options = Object.fromEntries(optionNames.map((name) => [name, { type: 'string' }])) as Record<
  Option,
  { type: 'string' }
>

/** Sets limits and retention of an entity, and shows the current ones. */
export function prepareLimitsCommand(args: string[]): PreparedCommand {
  const { entity, values } = readArguments(args, { ...options, ...traceProjectOptions }, limitsUsage)
  requireEntityName(entity)
  const changes: Partial<SetLimits> = Object.fromEntries(
    optionNames.flatMap((name) => {
      const text = values[name]
      return text === undefined ? [] : [[limitNames[name], parseOption(name, text)]]
    }),
  )
  const traceProject = readTraceProject(values)
  return (pool) => changeLimits(pool, entity, { ...changes, ...(traceProject !== undefined && { traceProject }) })
}

async function changeLimits(pool: Pool, entity: string, changes: Partial<SetLimits>): Promise<Printed> {
  const isChanged = Object.keys(changes).length > 0
  const limits = await (isChanged
    ? withInvalidation(pool, (connection) => changeEntityLimits(connection, entity, changes))
    : findEntityLimits(pool, entity))
  const inForce = applyDefaults(limits, loadLimitDefaults())
  const shown = [...Object.entries(limitNames), ['trace-project', 'traceProject'] as const]
  const rows = shown.map(([name, field]) => {
    const value = inForce[field]
    const text = value === Infinity ? noLimit : String(value)
    return { LIMIT: name, [entity]: limits[field] === null ? `${text} (default)` : text }
  })
  return { output: formatTable(rows) }
}

function valuesOf(name: Option): string {
  if (name === 'token-statistics') return `${statisticsSettings.join('|')}|default`
  return name === 'weight' ? 'N|default' : `N|${noLimit}|default`
}

function parseOption(name: Option, text: string): number | string | null {
  if (text === 'default') return null
  if (name === 'token-statistics') return parseSetting(name, text)
  return name === 'weight' ? parseWeight(text) : parseLimit(name, text)
}

function parseSetting(name: Option, text: string): TokenStatisticsSetting {
  const setting = statisticsSettings.find((known) => known === text)
  if (setting) return setting
  throw new CommandError(`--${name} must be ${statisticsSettings.join(', ')} or "default", not "${text}".`)
}

function parseWeight(text: string): number {
  const weight = /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
  if (weight !== undefined && weight >= lightest && weight <= heaviest) return weight
  throw new CommandError(`--weight must be a number from ${lightest} to ${heaviest}, or "default", not "${text}".`)
}

function parseLimit(name: Option, text: string): number | null {
  // Payloads are kept forever by default.
  if (text === noLimit) return name === 'payload-days' || name === 'run-days' ? null : Infinity
  const most = largest[name] ?? maxInteger
  const limit = /^\d+$/.test(text) ? Number(text) : undefined
  if (limit !== undefined && limit <= most) return limit
  throw new CommandError(`--${name} must be an integer up to ${most}, "${noLimit}" or "default", not "${text}".`)
}
