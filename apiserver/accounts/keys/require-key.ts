import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type Koa from 'koa'
import { authenticate, parseBearer, type AuthDeps } from './authenticate.ts'
import type { Caller, RequestState, Role } from '../context.ts'

/**
 * Requires a known, valid key or session before it reads any of the body. A revoked key stops working everywhere at once:
 * the revocation is only answered when no process can have the key in memory.
 */
export function requireKey(
  deps: AuthDeps,
  readKey: (ctx: Pick<Koa.Context, 'get'>) => string | undefined = readBearer,
): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const { caller, limits } = await authenticate(deps, ctx, readKey(ctx))
    ctx.state.caller = caller
    ctx.state.limits = limits
    await next()
  }
}

/** Reads the key of a request. */
export function readBearer(ctx: Pick<Koa.Context, 'get'>): string | undefined {
  return parseBearer(ctx.get('Authorization'))
}

const ranks: Record<Role, number> = { read: 0, member: 1, admin: 2 }

/** @throws {HttpError} 403 if the role of the caller's key is too low */
export function requireRole({ role }: Caller, min: Role): void {
  if (ranks[role] >= ranks[min]) return
  throw new HttpError(errors.insufficient_role, `This key has the role ${role}. The request needs the role ${min}.`)
}
