import { randomUUID } from 'node:crypto'
import { listApiKeys, type ApiKeyRow, type KeyRole } from '../../../db/accounts/api-keys.ts'
import { commandActor as by } from '../../../db/accounts/audit-log.ts'
import type { Pool } from '../../../db/pool.ts'
import {
  createKey,
  revokeKey,
  rotateKey,
  setKeyTraceProject,
  defaultOverlapSeconds,
  type MadeKey,
} from '../keys/service.ts'
import {
  CommandError,
  parseDuration,
  readArguments,
  requireEntity,
  type PreparedCommand,
  type Printed,
} from './command.ts'
import { formatTable } from './table.ts'
import { readTraceProject, traceProjectOptions, traceProjectUsage } from './trace-project-option.ts'

export const keyUsage = `usage: npm run key -- ENTITY [--role admin|member|read] [--name NAME] [--expires-in 30d] [--trace-project PROJECT|--no-trace-project]
       npm run key -- ENTITY --list
       npm run key -- ENTITY --change ID ${traceProjectUsage}
       npm run key -- ENTITY --revoke ID
       npm run key -- ENTITY --rotate ID [--overlap 1h]`

const roles = ['admin', 'member', 'read'] as const
// More keys than a person reads.
const maxListed = 10_000
const maxLifeSeconds = 100 * 366 * 86_400
const maxOverlapSeconds = 30 * 86_400

const options = {
  role: { type: 'string', default: 'admin' },
  name: { type: 'string' },
  'expires-in': { type: 'string' },
  list: { type: 'boolean' },
  change: { type: 'string' },
  ...traceProjectOptions,
  revoke: { type: 'string' },
  rotate: { type: 'string' },
  overlap: { type: 'string' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

/** Creates, lists, changes, revokes or rotates keys of an entity. The command needs only access to the database. */
export function prepareKeyCommand(args: string[]): PreparedCommand {
  const { entity, values } = readArguments(args, options, keyUsage)
  const { list, change, revoke, rotate } = values
  if (list) return (pool) => showKeys(pool, entity)
  // These also work for an entity whose name was reserved later.
  if (revoke !== undefined) return (pool) => revokeOne(pool, entity, revoke)
  if (rotate !== undefined) return prepareRotation(entity, rotate, values)
  if (change !== undefined) return prepareChange(entity, change, values)
  requireEntity(entity)
  return prepareKey(entity, values)
}

function prepareKey(entity: string, values: Values): PreparedCommand {
  const { role, name, 'expires-in': expiresIn } = values
  if (!isRole(role)) throw new CommandError(`--role must be one of ${roles.join(', ')}, not "${role}".\n${keyUsage}`)
  const seconds = readLimited(expiresIn, '--expires-in', maxLifeSeconds)
  const expiresAt = seconds === undefined ? undefined : new Date(Date.now() + seconds * 1_000)
  const traceProject = readTraceProject(values) ?? null
  return async (pool) =>
    showKey(
      await createKey(pool, { id: randomUUID(), entity, role, name, expiresAt, traceProject, by }),
      `A key of ${entity} with the role ${role}.`,
    )
}

function prepareRotation(entity: string, id: string, { overlap }: Values): PreparedCommand {
  const overlapSeconds = readLimited(overlap, '--overlap', maxOverlapSeconds) ?? defaultOverlapSeconds
  return async (pool) =>
    showKey(
      await rotateKey(pool, { entity, id, overlapSeconds, by }, randomUUID()),
      `The key ${id} works for another ${overlapSeconds} s. This key replaces it.`,
    )
}

function prepareChange(entity: string, id: string, values: Values): PreparedCommand {
  const traceProject = readTraceProject(values)
  if (traceProject === undefined) throw new CommandError(keyUsage)
  return async (pool) => {
    await setKeyTraceProject(pool, { entity, id, by }, traceProject)
    return { output: '', note: `The key ${id} of ${entity} is changed.\n` }
  }
}

/** Also revokes the last admin key, because the same command can create another one. */
async function revokeOne(pool: Pool, entity: string, id: string): Promise<Printed> {
  await revokeKey(pool, { entity, id, keepAdmin: false, by })
  return { output: '', note: `The key ${id} of ${entity} is revoked.\n` }
}

function showKey({ row, key }: MadeKey, sentence: string): Printed {
  const ends = row.expiresAt ? ` It ends ${row.expiresAt.toISOString()}.` : ''
  return { output: `${key}\n`, note: `${sentence}${ends} It is shown once and not stored:\n` }
}

async function showKeys(pool: Pool, entity: string): Promise<Printed> {
  const rows = await listApiKeys(pool, entity, { limit: maxListed })
  return rows.length > 0
    ? { output: formatTable(rows.map(describeKey)) }
    : { output: '', note: `${entity} has no key.\n` }
}

function describeKey(key: ApiKeyRow): Record<string, string> {
  return {
    ID: key.id,
    KEY: key.prefix === null ? '-' : `${key.prefix}…`,
    ROLE: key.role,
    NAME: key.name ?? '-',
    TRACES: key.traceProject ?? '-',
    STATE: describeState(key),
    'LAST USED': key.lastUsedAt?.toISOString() ?? 'never',
  }
}

function describeState({ revokedAt, expiresAt }: ApiKeyRow): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`
  if (!expiresAt) return 'valid'
  return `${expiresAt.getTime() > Date.now() ? 'valid until' : 'expired'} ${expiresAt.toISOString()}`
}

function readLimited(text: string | undefined, option: string, maxSeconds: number): number | undefined {
  if (text === undefined) return undefined
  const seconds = parseDuration(text, option)
  if (seconds <= maxSeconds) return seconds
  throw new CommandError(`${option} must be at most ${maxSeconds / 86_400}d.`)
}

function isRole(text: string): text is KeyRole {
  return (roles as readonly string[]).includes(text)
}
