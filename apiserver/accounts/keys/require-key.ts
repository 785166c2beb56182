import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { ErrorDefinition } from '../../../lib/http/error-table.ts'
import type Koa from 'koa'
import type { ApiKeyLookup } from './api-key-lookup.ts'
import type { LastUsedTracker } from './last-used.ts'
import { digestKey } from './secret.ts'
import { applyDefaults, type LimitDefaults } from '../limits/limits.ts'
import type { Caller, RequestState, Role } from '../context.ts'

/** What keys are checked with. */
export interface AuthDeps {
  apiKeys: ApiKeyLookup
  lastUsed: LastUsedTracker
  limitDefaults: LimitDefaults
}

/**
 * Lets a request through whose bearer key is known, not revoked and not expired, before a byte of its body is read.
 *
 * Keys are looked up by their digest, so the time that it takes says nothing about a key's characters. The database is
 * asked after each request has come in, so that a key that is revoked ends everywhere at once.
 */
export function requireKey(
  deps: AuthDeps,
  readKey: (ctx: Pick<Koa.Context, 'get'>) => string | undefined = readBearer,
): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    Object.assign(ctx.state, await authenticate(deps, readKey(ctx), ctx.ip))
    await next()
  }
}

/** Who sends a request with a key, from an address. @throws {HttpError} 401 */
export async function authenticate(
  { apiKeys, lastUsed, limitDefaults }: AuthDeps,
  key: string | undefined,
  address: string,
): Promise<RequestState> {
  if (key === undefined) throw unauthorized(errors.missing_api_key)
  const known = await apiKeys.find(digestKey(key), address)
  if (known === undefined) throw unauthorized(errors.invalid_api_key)
  const { keyId, entity, role, ...set } = known
  const { weight, ...limits } = applyDefaults(set, limitDefaults)
  lastUsed.record(keyId)
  return { caller: { keyId, entity, role, weight }, limits }
}

/** The key that a request carries. */
export function readBearer(ctx: Pick<Koa.Context, 'get'>): string | undefined {
  return /^bearer +(\S+) *$/i.exec(ctx.get('Authorization'))?.[1]
}

const ranks: Record<Role, number> = { read: 0, member: 1, admin: 2 }

/** @throws {HttpError} 403 when the caller's key has a lesser role */
export function requireRole({ role }: Caller, min: Role): void {
  if (ranks[role] >= ranks[min]) return
  throw new HttpError(errors.insufficient_role, `This key has the role ${role}. The request needs the role ${min}.`)
}

/** The answer to a missing, malformed, unknown, revoked or expired key. */
function unauthorized(definition: ErrorDefinition): HttpError {
  return new HttpError(definition, undefined, { headers: { 'WWW-Authenticate': 'Bearer' } })
}
