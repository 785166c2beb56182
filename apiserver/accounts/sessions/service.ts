import { randomBytes } from 'node:crypto'
import { findApiKey, type KeyRole } from '../../../db/accounts/api-keys.ts'
import {
  deleteSession,
  findNamedKey,
  findSessionTimes,
  insertLoginCode,
  openSession,
  spendLoginCode,
  type SessionTimes,
} from '../../../db/accounts/sessions.ts'
import { withInvalidation } from '../../../db/changes.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Caller } from '../context.ts'
import type { ApiKeyLookup, KnownCaller } from '../keys/api-key-lookup.ts'
import { digestOfKey, digestOfSession, readDigest } from '../keys/credentials.ts'
import { createKey } from '../keys/service.ts'
import type { MinutePoints } from '../limits/minute-points.ts'
import type { LoginLimiter } from './login-limiter.ts'
import type { Login } from './schema.ts'

export interface LoginDeps {
  apiKeys: ApiKeyLookup
  pool: Pool
  requestLimiter: MinutePoints
}

/** The key that links to the console are for. Nobody has its text, and revoking it ends all their sessions. */
const consoleKeyName = 'console'

/**
 * Logs in with a key or a login code. Returns the value of the new session's cookie, and its caller.
 *
 * @throws {HttpError} 401 for a wrong key or code, 429 after too many of them
 */
export async function logIn(
  deps: LoginDeps,
  limiter: LoginLimiter,
  { login, address }: { login: Login; address: string },
): Promise<{ value: string; known: KnownCaller }> {
  const value = makeSecret()
  const session = readDigest(digestOfSession(value)).bytes
  const { code } = login
  const opened = await (code === undefined
    ? openWithKey(deps, { key: login.api_key ?? '', address, session })
    : deps.apiKeys.askForStranger(address, () => spendLoginCode(deps.pool, digestOfCode(code), session)))
  const known = opened ? await deps.apiKeys.find(digestOfSession(value), address) : undefined
  return known ? { value, known } : limiter.reject(address)
}

const digestOfCode = (code: string) => readDigest(digestOfKey(code)).bytes

async function openWithKey(
  { apiKeys, pool, requestLimiter }: LoginDeps,
  { key, address, session }: { key: string; address: string; session: Buffer },
): Promise<boolean> {
  const known = await apiKeys.find(digestOfKey(key), address)
  if (!known) return false
  await requestLimiter.take(known.caller.entity, known.limits.requestsPerMinute, 1)
  return openSession(pool, known.caller.keyId, session)
}

/** When the caller's session, or its key, began and ends. */
export async function findTimes(
  pool: Pool,
  { sessionId, entity, keyId }: Caller,
): Promise<{ [Time in keyof SessionTimes]: SessionTimes[Time] | null } | undefined> {
  return sessionId === undefined ? findApiKey(pool, entity, keyId) : findSessionTimes(pool, sessionId)
}

/** Ends a session. When this returns, no process accepts it. */
export async function logOut(pool: Pool, sessionId: string): Promise<void> {
  await withInvalidation(pool, (connection) => deleteSession(connection, sessionId))
}

/** Creates a login code: whoever spends it gets a session of the entity with this role. */
export async function createLoginCode(
  pool: Pool,
  { entity, role, keyId, by }: { entity: string; role: KeyRole; keyId: string; by: string },
): Promise<string> {
  const name = consoleKeyName
  const known = await findNamedKey(pool, { entity, role, name })
  if (known === undefined) await createKey(pool, { id: keyId, entity, role, name, by })
  const code = makeSecret()
  await insertLoginCode(pool, known ?? keyId, digestOfCode(code))
  return code
}

/** 256 random bits as 43 characters. */
function makeSecret(): string {
  return randomBytes(32).toString('base64url')
}
