import { hash } from 'node:crypto'
import { HttpError } from '../../../lib/http/http-error.ts'
import type { ErrorDefinition } from '../../../lib/http/error-table.ts'
import { errors } from '../../errors/table.ts'
import type { ApiKeyLookup, KnownCaller } from './api-key-lookup.ts'
import type { LastUsedTracker } from './last-used.ts'

/** What authentication needs. */
export interface AuthDeps {
  apiKeys: ApiKeyLookup
  lastUsed: LastUsedTracker
}

/**
 * Authenticates a request by its key. It answers without a promise if the key is in memory.
 *
 * Keys are looked up by their digest, so the duration reveals nothing about a key's characters.
 *
 * @param address the address of the sender
 * @throws {HttpError} 401, or rejects with it, for a key that is missing, unknown, revoked or expired
 */
export function authenticate(
  { apiKeys, lastUsed }: AuthDeps,
  key: string | undefined,
  address: string,
): KnownCaller | Promise<KnownCaller> {
  if (key === undefined) throw unauthorized(errors.missing_api_key)
  return authenticateDigest({ apiKeys, lastUsed }, hash('sha256', key, 'base64'), address)
}

/** Authenticates a request by the SHA-256 of a key, in base64. @throws {HttpError} as `authenticate` does */
export function authenticateDigest(
  { apiKeys, lastUsed }: AuthDeps,
  digest: string,
  address: string,
): KnownCaller | Promise<KnownCaller> {
  const known = apiKeys.peek(digest)
  if (!known) return findCaller({ apiKeys, lastUsed }, digest, address)
  lastUsed.record(known.caller.keyId)
  return known
}

async function findCaller({ apiKeys, lastUsed }: AuthDeps, digest: string, address: string): Promise<KnownCaller> {
  const known = await apiKeys.find(digest, address)
  if (!known) throw unauthorized(errors.invalid_api_key)
  lastUsed.record(known.caller.keyId)
  return known
}

/** Reads the key from an `Authorization` header. */
export function parseBearer(header: string): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header)?.[1]
}

/** The error for a missing, malformed, unknown, revoked or expired key. */
function unauthorized(definition: ErrorDefinition): HttpError {
  return new HttpError(definition, undefined, { headers: { 'WWW-Authenticate': 'Bearer' } })
}
