import type { InvalidatingConnection } from '../changes.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'
import { selectKnownKey, usableKey, type KeyRole, type KnownKey } from './api-keys.ts'

/** How long an unused session lasts, and how long any session lasts. */
export const sessionHours = { idle: 12, longest: 30 * 24 }

/** How long a login code can be used. */
export const loginCodeMinutes = 10

// A program that logs in for each request ends its own sessions.
const maxSessionsOfKey = 100
const removedAtOnce = 1_000
// Writing each use would tell all processes each time that the session has changed.
const usedWithin = "interval '5 minutes'"

const endsAt = `least(api_keys.expires_at, s.created_at + interval '${sessionHours.longest} hours',
  s.used_at + interval '${sessionHours.idle} hours')`
const from = `FROM auth.sessions s JOIN auth.api_keys ON api_keys.id = s.key_id LEFT JOIN auth.entities USING (entity)`
const isUsable = `${usableKey} AND ${endsAt} > clock_timestamp()`

/** The key of a session. It expires with the session. */
export interface KnownSession extends KnownKey {
  sessionId: string
}

/** A session as its owner sees it. */
export interface SessionTimes {
  createdAt: Date
  /** When it ends if it is not used any more. */
  expiresAt: Date
}

/** Finds the session with this SHA-256, unless it or its key has ended. */
export async function findSession(pool: Pool, digest: Buffer): Promise<KnownSession | undefined> {
  const { rows } = await pool.query<KnownSession>(
    `SELECT s.id AS "sessionId", ${selectKnownKey}, ${endsAt} AS "expiresAt" ${from}
      WHERE s.digest = $1 AND ${isUsable}`,
    [digest],
  )
  return rows[0]
}

/** When a session began, and when it ends. */
export async function findSessionTimes(pool: Pool, id: string): Promise<SessionTimes | undefined> {
  const { rows } = await pool.query<SessionTimes>(
    `SELECT s.created_at AS "createdAt", ${endsAt} AS "expiresAt" ${from} WHERE s.id = $1`,
    [id],
  )
  return rows[0]
}

/** Opens a session of a key, if the key is usable. */
export function openSession(pool: Pool, keyId: string, digest: Buffer): Promise<boolean> {
  return withTransaction(pool, (connection) => insertSession(connection, keyId, digest))
}

/** Spends a login code on a session. Of concurrent requests with one code, one gets the session. */
export function spendLoginCode(pool: Pool, code: Buffer, session: Buffer): Promise<boolean> {
  return withTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ keyId: string; isValid: boolean }>(
      `DELETE FROM auth.login_codes WHERE digest = $1
       RETURNING key_id AS "keyId", expires_at > clock_timestamp() AS "isValid"`,
      [code],
    )
    return rows[0]?.isValid === true && insertSession(connection, rows[0].keyId, session)
  })
}

async function insertSession(connection: Connection, keyId: string, digest: Buffer): Promise<boolean> {
  const { rowCount } = await connection.query(
    `INSERT INTO auth.sessions (digest, key_id) SELECT $2, id FROM auth.api_keys WHERE id = $1 AND ${usableKey}`,
    [keyId, digest],
  )
  if (rowCount !== 1) return false
  await removeSpent(connection, keyId)
  return true
}

/** Removes ended sessions, and the oldest ones of a key that has too many. */
async function removeSpent(connection: Connection, keyId: string): Promise<void> {
  await connection.query(
    `WITH ended AS (
       SELECT id FROM auth.sessions WHERE used_at < clock_timestamp() - interval '${sessionHours.idle} hours'
       LIMIT ${removedAtOnce} FOR UPDATE SKIP LOCKED
     ), excess AS (
       SELECT id FROM auth.sessions WHERE key_id = $1 ORDER BY created_at DESC
       OFFSET ${maxSessionsOfKey} LIMIT ${removedAtOnce} FOR UPDATE SKIP LOCKED
     ) DELETE FROM auth.sessions WHERE id IN (SELECT id FROM ended UNION ALL SELECT id FROM excess)`,
    [keyId],
  )
}

/** Ends a session. */
export async function deleteSession(connection: InvalidatingConnection, id: string): Promise<void> {
  await connection.query('DELETE FROM auth.sessions WHERE id = $1', [id])
}

/** Records that sessions were used, at most every five minutes for each. */
export async function recordSessionUses(pool: Pool, ids: string[]): Promise<void> {
  await pool.query(
    `UPDATE auth.sessions SET used_at = clock_timestamp() WHERE id IN (
      SELECT id FROM auth.sessions WHERE id = ANY ($1::uuid[]) AND used_at < clock_timestamp() - ${usedWithin}
        AND used_at > clock_timestamp() - interval '${sessionHours.idle} hours' FOR NO KEY UPDATE SKIP LOCKED)`,
    [ids],
  )
}

/** Stores a login code of a key, and removes old ones. */
export async function insertLoginCode(pool: Pool, keyId: string, digest: Buffer): Promise<void> {
  await pool.query(
    `WITH old AS (DELETE FROM auth.login_codes WHERE expires_at < clock_timestamp())
     INSERT INTO auth.login_codes (digest, key_id, expires_at)
     VALUES ($2, $1, clock_timestamp() + interval '${loginCodeMinutes} minutes')`,
    [keyId, digest],
  )
}

/** Finds an entity's oldest usable key with this role and name, among those without an end. */
export async function findNamedKey(
  pool: Pool,
  { entity, role, name }: { entity: string; role: KeyRole; name: string },
): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM auth.api_keys WHERE entity = $1 AND role = $2 AND name = $3 AND revoked_at IS NULL
       AND expires_at IS NULL ORDER BY created_at LIMIT 1`,
    [entity, role, name],
  )
  return rows[0]?.id
}
