import { countUpTo } from '../count-up-to.ts'
import { column, selectColumns, type RowOf } from '../columns.ts'
import type { InvalidatingConnection } from '../changes.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { recordAct } from './audit-log.ts'
import { projectCalledOff, selectLimits, tracesOff, type SetLimits } from './limits.ts'

export type KeyRole = 'read' | 'member' | 'admin'

// Every request reads these limits.
const limitNames = [
  'requestsPerMinute',
  'tokensPerMinute',
  'queuedJobs',
  'concurrentStreams',
  'eventStreams',
  'storedBytes',
  'weight',
] as const

/** The limits that each request is checked against. */
export type RequestLimitName = (typeof limitNames)[number]

/** A usable key, with the request limits of its entity. */
export interface KnownKey extends Pick<SetLimits, RequestLimitName> {
  keyId: string
  entity: string
  role: KeyRole
  expiresAt: Date | null
  /** The project that records its chats. Null for none. */
  traceProject: string | null
}

export const keyColumns = {
  id: column<string>('id', 'uuid'),
  entity: column<string>('entity', 'text'),
  name: column<string | null>('name', 'text'),
  role: column<KeyRole>('role', 'text'),
  /** The first characters of the key. */
  prefix: column<string | null>('prefix', 'text'),
  createdAt: column<Date>('created_at', 'timestamptz'),
  expiresAt: column<Date | null>('expires_at', 'timestamptz'),
  revokedAt: column<Date | null>('revoked_at', 'timestamptz'),
  lastUsedAt: column<Date | null>('last_used_at', 'timestamptz'),
  replacedBy: column<string | null>('replaced_by', 'uuid'),
  /** The project that records its chats, or `tracesOff`. Null for the setting of the entity. */
  traceProject: column<string | null>('trace_project', 'text'),
}

/** A key in the form for its owners. The key itself is not stored, only its SHA-256. */
export type ApiKeyRow = RowOf<typeof keyColumns>

export interface NewApiKey {
  id: string
  entity: string
  digest: Buffer
  prefix: string
  role: KeyRole
  name?: string | undefined
  expiresAt?: Date | undefined
  traceProject?: string | null | undefined
}

export type Revocation = 'revoked' | 'missing' | 'last admin'
export type Rotation = 'rotated' | 'missing' | 'unusable'

const columns = selectColumns(keyColumns)

/** SQL: whether a key may be used. */
export const usableKey =
  'api_keys.revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > clock_timestamp())'

// The setting of a key takes precedence over the setting of its entity.
const traceSetting = 'coalesce(api_keys.trace_project, entities.trace_project)'
const traceProject = `CASE ${traceSetting} WHEN '${tracesOff}' THEN NULL WHEN '${projectCalledOff}' THEN '${tracesOff}'
  ELSE ${traceSetting} END AS "traceProject"`

/** SQL: a usable key without its expiry, from `auth.api_keys LEFT JOIN auth.entities USING (entity)`. */
export const selectKnownKey = `api_keys.id AS "keyId", entity, role, ${traceProject}, ${selectLimits(limitNames)}`

/** Finds the key with this SHA-256, unless it is revoked or has expired. */
export async function findKey(pool: Pool, digest: Buffer): Promise<KnownKey | undefined> {
  const { rows } = await pool.query<KnownKey>(
    `SELECT ${selectKnownKey}, expires_at AS "expiresAt"
     FROM auth.api_keys LEFT JOIN auth.entities USING (entity) WHERE digest = $1 AND ${usableKey}`,
    [digest],
  )
  return rows[0]
}

/** Inserts a new key and records its creator (`by`). */
export function makeApiKey(pool: Pool, key: NewApiKey, by: string): Promise<ApiKeyRow> {
  return withTransaction(pool, async (connection) => {
    const { isNew, ...row } = await insertApiKey(connection, key)
    const { id, entity, role, expiresAt, traceProject: traced } = row
    const act = {
      entity,
      actor: by,
      action: 'key.made',
      subject: id,
      details: { role, expires_at: expiresAt, ...(traced !== null && { trace_project: traced }) },
    } as const
    if (isNew) await recordAct(connection, act)
    return row
  })
}

/** Inserts a new key. If a repeated request has inserted it already, it gets this digest. */
export async function insertApiKey(connection: Connection, key: NewApiKey): Promise<ApiKeyRow & { isNew: boolean }> {
  const { rows } = await connection.query<ApiKeyRow & { isNew: boolean }>(
    `INSERT INTO auth.api_keys (id, entity, digest, prefix, role, name, expires_at, trace_project)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, prefix = excluded.prefix
     RETURNING ${columns}, xmax = 0 AS "isNew"`,
    [
      key.id,
      key.entity,
      key.digest,
      key.prefix,
      key.role,
      key.name ?? null,
      key.expiresAt ?? null,
      key.traceProject ?? null,
    ],
  )
  return rows[0]!
}

/** Finds a key of an entity, even if it is revoked or expired. */
export async function findApiKey(pool: Pool, entity: string, id: string): Promise<ApiKeyRow | undefined> {
  const { rows } = await pool.query<ApiKeyRow>(`SELECT ${columns} FROM auth.api_keys WHERE entity = $1 AND id = $2`, [
    entity,
    id,
  ])
  return rows[0]
}

/** Lists a page of an entity's keys that follow the key `after`, oldest first. */
export async function listApiKeys(
  pool: Pool,
  entity: string,
  page: { after?: string | undefined; limit: number },
): Promise<ApiKeyRow[]> {
  const { rows } = await pool.query<ApiKeyRow>(
    `SELECT ${columns} FROM auth.api_keys
     WHERE entity = $1 AND ($2::uuid IS NULL OR
       (created_at, id) > (SELECT created_at, id FROM auth.api_keys WHERE entity = $1 AND id = $2))
     ORDER BY created_at, id LIMIT $3`,
    [entity, page.after ?? null, page.limit],
  )
  return rows
}

/** Counts the keys of an entity, up to `most`. */
export function countApiKeys(pool: Pool, entity: string, most: number): Promise<number> {
  return countUpTo(pool, { text: 'SELECT FROM auth.api_keys WHERE entity = $1', values: [entity] }, most)
}

/** Revokes a key of an entity permanently. Revoking it again changes nothing. */
export async function revokeApiKey(
  connection: InvalidatingConnection,
  { entity, id, keepAdmin, by }: { entity: string; id: string; keepAdmin: boolean; by: string },
): Promise<Revocation> {
  const { admins, key } = await lockKeys(connection, entity, id)
  if (!key) return 'missing'
  if (keepAdmin && admins.length === 1 && admins[0] === id) return 'last admin'
  if (key.revokedAt) return 'revoked'
  await connection.query('UPDATE auth.api_keys SET revoked_at = clock_timestamp() WHERE id = $1', [id])
  await recordAct(connection, { entity, actor: by, action: 'key.revoked', subject: key.id })
  return 'revoked'
}

/**
 * Replaces a key by a new one with the same name, role, trace project and lifetime. The old key stays valid for
 * `overlapSeconds`.
 */
export async function rotateApiKey(
  connection: InvalidatingConnection,
  { entity, id, overlapSeconds, by }: { entity: string; id: string; overlapSeconds: number; by: string },
  successor: Pick<NewApiKey, 'id' | 'digest' | 'prefix'>,
): Promise<{ outcome: Rotation; key?: ApiKeyRow }> {
  const { key } = await lockKeys(connection, entity, id)
  if (!key) return { outcome: 'missing' }
  const repeated = key.replacedBy === successor.id
  if (!repeated && (!key.usable || key.replacedBy !== null)) return { outcome: 'unusable' }
  const expiresAt = key.expiresAt && new Date(Date.now() + key.expiresAt.getTime() - key.createdAt.getTime())
  const { role, name, traceProject: traced } = key
  const kept = { role, name: name ?? undefined, traceProject: traced, expiresAt: expiresAt ?? undefined }
  const replacement = { ...successor, ...kept, entity }
  const { isNew: _, ...made } = await insertApiKey(connection, replacement)
  if (repeated) return { outcome: 'rotated', key: made }
  await endReplaced(connection, { id, successorId: successor.id, overlapSeconds })
  const details = { replaced_by: made.id, overlap_seconds: overlapSeconds }
  await recordAct(connection, { entity, actor: by, action: 'key.rotated', subject: key.id, details })
  return { outcome: 'rotated', key: made }
}

/** Locks the key and all usable admin keys, in a fixed order. Of two concurrent revocations, one sees the other. */
async function lockKeys(connection: Connection, entity: string, id: string) {
  const { rows } = await connection.query<ApiKeyRow & { usable: boolean }>(
    `SELECT ${columns}, ${usableKey} AS usable FROM auth.api_keys
     WHERE entity = $1 AND (id = $2 OR role = 'admin' AND ${usableKey}) ORDER BY id FOR UPDATE`,
    [entity, id],
  )
  const admins = rows.filter((row) => row.role === 'admin' && row.usable).map((row) => row.id)
  return { admins, key: rows.find((row) => row.id === id) }
}

async function endReplaced(
  connection: InvalidatingConnection,
  { id, successorId, overlapSeconds }: { id: string; successorId: string; overlapSeconds: number },
): Promise<void> {
  await connection.query(
    `UPDATE auth.api_keys SET replaced_by = $2,
       expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $3)) WHERE id = $1`,
    [id, successorId, overlapSeconds],
  )
}

/** A usable key and its expiry. Null if it never expires. */
export interface UsableKey {
  id: string
  expiresAt: Date | null
}

/** Lists the usable keys among these. */
export async function listUsableKeys(pool: Pool, ids: string[]): Promise<UsableKey[]> {
  const { rows } = await pool.query<UsableKey>(
    `SELECT id, expires_at AS "expiresAt" FROM auth.api_keys WHERE id = ANY ($1::uuid[]) AND ${usableKey}`,
    [ids],
  )
  return rows
}
