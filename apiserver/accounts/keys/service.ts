import { HttpError, notFound, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import {
  countApiKeys,
  findApiKey,
  listApiKeys,
  makeApiKey,
  revokeApiKey,
  rotateApiKey,
  type ApiKeyRow,
  type KeyRole,
} from '../../../db/accounts/api-keys.ts'
import { saveKeyTraceProject } from '../../../db/accounts/key-traces.ts'
import { withInvalidation } from '../../../db/changes.ts'
import type { Pool } from '../../../db/pool.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { parseTime } from '../../../lib/http/validation/time.ts'
import { countTotal, resolveCursor, type CountedPageQuery } from '../../../lib/http/page.ts'
import { digestKey, generateKey, prefixOf } from './secret.ts'

/** How long a replaced key still works by default. */
export const defaultOverlapSeconds = 3_600

/** A key with its plain text, which cannot be read again. */
export interface MadeKey {
  row: ApiKeyRow
  key: string
}

export interface WantedKey {
  id: string
  entity: string
  role: KeyRole
  name?: string | undefined
  expiresAt?: Date | undefined
  /** The project that records its chats, or `off`. Null for the setting of the entity. */
  traceProject?: string | null | undefined
  /** The creator: the id of a key, or the administrator's command. */
  by: string
}

export async function createKey(pool: Pool, { by, ...wanted }: WantedKey): Promise<MadeKey> {
  const { key, ...kept } = makeSecret()
  return { row: await makeApiKey(pool, { ...wanted, ...kept }, by), key }
}

/** Finds a key of an entity, even if it is revoked or expired. */
export async function getKey(pool: Pool, entity: string, id: string): Promise<ApiKeyRow> {
  const key = isUuid(id) ? await findApiKey(pool, entity, id) : undefined
  if (!key) throw notFound('Key')
  return key
}

/** Lists one key more than the limit, which shows whether more follow. */
export async function listKeys(
  pool: Pool,
  entity: string,
  { after, limit, max_total: maxTotal }: CountedPageQuery,
): Promise<{ rows: ApiKeyRow[]; total: number | undefined }> {
  const position = await resolveCursor(after, (id) => findApiKey(pool, entity, id))
  const rows = await listApiKeys(pool, entity, { after: position?.id, limit: limit + 1 })
  return { rows, total: await countTotal(maxTotal, (max) => countApiKeys(pool, entity, max)) }
}

/**
 * Revokes a key. Every request after the answer is rejected. Revoking it again changes nothing. @throws {HttpError} 409
 * for the last admin key, unless `keepAdmin` is false
 */
export async function revokeKey(
  pool: Pool,
  { entity, id, keepAdmin, by }: { entity: string; id: string; keepAdmin: boolean; by: string },
): Promise<ApiKeyRow> {
  const outcome = isUuid(id)
    ? await withInvalidation(pool, (connection) => revokeApiKey(connection, { entity, id, keepAdmin, by }))
    : 'missing'
  if (outcome === 'missing') throw notFound('Key')
  if (outcome === 'last admin')
    throw new HttpError(
      errors.conflict,
      `This is the last admin key of ${entity}. Create another admin key first, then revoke this one.`,
    )
  return getKey(pool, entity, id)
}

/** Sets the project that records the chats of a key, or `off`. Null for the setting of its entity. */
export async function setKeyTraceProject(
  pool: Pool,
  { entity, id, by }: { entity: string; id: string; by: string },
  traceProject: string | null,
): Promise<ApiKeyRow> {
  const isFound =
    isUuid(id) &&
    (await withInvalidation(pool, (connection) => saveKeyTraceProject(connection, { entity, id, by }, traceProject)))
  if (!isFound) throw notFound('Key')
  return getKey(pool, entity, id)
}

/** @throws {HttpError} 409 if the key was already replaced, is revoked or has expired */
export async function rotateKey(
  pool: Pool,
  { entity, id, overlapSeconds, by }: { entity: string; id: string; overlapSeconds: number; by: string },
  newId: string,
): Promise<MadeKey> {
  const { key, ...kept } = makeSecret()
  const rotated = isUuid(id)
    ? await withInvalidation(pool, (connection) =>
        rotateApiKey(connection, { entity, id, overlapSeconds, by }, { id: newId, ...kept }),
      )
    : { outcome: 'missing' as const }
  if (rotated.outcome === 'missing') throw notFound('Key')
  if (!rotated.key)
    throw new HttpError(
      errors.conflict,
      'This key was already rotated, is revoked, or has expired. Create a new key instead.',
    )
  return { row: rotated.key, key }
}

/** When a key expires. @throws {HttpError} 422 if both values are given, or the time is in the past */
export function readExpiry(expiresAt?: string | null, expiresInSeconds?: number | null): Date | undefined {
  if (expiresInSeconds) {
    if (expiresAt) throw badExpiry('send expires_at or expires_in_seconds, not both')
    return new Date(Date.now() + expiresInSeconds * 1_000)
  }
  if (!expiresAt) return undefined
  const time = parseTime(expiresAt)
  if (!time || time.getTime() <= Date.now())
    throw badExpiry('must be a time in the future, such as 2030-01-31T12:00:00Z')
  return time
}

function badExpiry(reason: string): HttpError {
  return unprocessable(valueError(['body', 'expires_at'], reason))
}

function makeSecret() {
  const key = generateKey()
  return { key, digest: digestKey(key), prefix: prefixOf(key) }
}
