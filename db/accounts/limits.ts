import type { InvalidatingConnection } from '../changes.ts'
import type { Connection, Pool } from '../pool.ts'
import { commandActor, recordAct } from './audit-log.ts'
import type { TokenStatisticsSetting } from '../jobs/token-statistics.ts'

/** The limits of an entity; Infinity means unlimited. */
export interface EntityLimits {
  requestsPerMinute: number
  /** Prompt and completion tokens of chats. */
  tokensPerMinute: number
  /** Concurrent chats, streamed or not, in one replica of the apiserver. */
  concurrentStreams: number
  /** Concurrent requests that follow the events of jobs or wait for them, in one replica. */
  eventStreams: number
  /** Unfinished training jobs. */
  queuedJobs: number
  storedBytes: number
  /** GPU seconds of training on a day (UTC). Beyond it, jobs wait. */
  gpuSecondsPerDay: number
  /** How long payloads of finished jobs are kept. */
  payloadDays: number
  /** How long runs of the wandb SDK are kept after their end. */
  runDays: number
  /** The weight of the entity when entities wait for the same resource. */
  weight: number
  /** Which token statistics are stored. */
  tokenStatistics: TokenStatisticsSetting
  /** The project that records the entity's chats, `tracesOff`, or `projectCalledOff`. */
  traceProject: string
}

/** Says that no project records chats. */
export const tracesOff = 'off'

/** Says that the project with the name of `tracesOff` records chats. No name of a project has a colon. */
export const projectCalledOff = 'project:off'

/** What was set for an entity; null where the installation's default holds. */
export type SetLimits = { [Name in keyof EntityLimits]: EntityLimits[Name] | null }

const columns = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  concurrentStreams: 'concurrent_streams',
  eventStreams: 'event_streams',
  queuedJobs: 'queued_jobs',
  storedBytes: 'stored_bytes',
  gpuSecondsPerDay: 'gpu_seconds_per_day',
  payloadDays: 'payload_days',
  runDays: 'run_days',
  weight: 'weight',
  tokenStatistics: 'token_statistics',
  traceProject: 'trace_project',
} as const satisfies Record<keyof EntityLimits, string>

const names = Object.keys(columns) as (keyof EntityLimits)[]

const none: SetLimits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentStreams: null,
  eventStreams: null,
  queuedJobs: null,
  storedBytes: null,
  gpuSecondsPerDay: null,
  payloadDays: null,
  runDays: null,
  weight: null,
  tokenStatistics: null,
  traceProject: null,
}

/** The columns of `auth.entities`, named after their limits. */
export function selectLimits(wanted: readonly (keyof EntityLimits)[]): string {
  return wanted.map((name) => `${columns[name]} AS "${name}"`).join(', ')
}

/** The limits that were set for an entity. */
export async function findEntityLimits(connection: Connection | Pool, entity: string): Promise<SetLimits> {
  const { rows } = await connection.query<SetLimits>(
    `SELECT ${selectLimits(names)} FROM auth.entities WHERE entity = $1`,
    [entity],
  )
  return rows[0] ?? none
}

/** Changes limits of an entity by the administrator's command. Returns all limits that are set afterwards. */
export async function changeEntityLimits(
  connection: InvalidatingConnection,
  entity: string,
  changes: Partial<SetLimits>,
): Promise<SetLimits> {
  await saveEntityLimits(connection, entity, changes)
  // JSON has no Infinity.
  const details = Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, value === Infinity ? 'none' : value]),
  )
  await recordAct(connection, { entity, actor: commandActor, action: 'limits.set', subject: null, details })
  return findEntityLimits(connection, entity)
}

/** Changes only the named limits, even if somebody else changes others concurrently. */
async function saveEntityLimits(
  connection: InvalidatingConnection,
  entity: string,
  changes: Partial<SetLimits>,
): Promise<void> {
  const given = names.filter((name) => changes[name] !== undefined)
  const all = given.map((name) => columns[name])
  await connection.query(
    `INSERT INTO auth.entities (entity, ${all.join(', ')})
     VALUES ($1, ${all.map((_, index) => `$${index + 2}`).join(', ')})
     ON CONFLICT (entity) DO UPDATE SET ${all.map((column) => `${column} = excluded.${column}`).join(', ')},
       updated_at = now()`,
    [entity, ...given.map((name) => changes[name])],
  )
}

/** Changes a setting that an entity's own admins may change. */
export async function saveEntitySetting<Name extends 'tokenStatistics' | 'traceProject'>(
  connection: InvalidatingConnection,
  { entity, by }: { entity: string; by: string },
  [name, setting]: [Name, SetLimits[Name]],
): Promise<void> {
  await saveEntityLimits(connection, entity, { [name]: setting })
  const details = { [columns[name]]: setting }
  await recordAct(connection, { entity, actor: by, action: `${columns[name]}.set`, subject: null, details })
}
