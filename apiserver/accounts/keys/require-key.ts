import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type Koa from 'koa'
import { authenticate, parseBearer, type AuthDeps } from './authenticate.ts'
import type { Caller, RequestState, Role } from '../context.ts'

/**
 * Lets a request through whose bearer key is known, not revoked and not expired, before a byte of its body is read. A key
 * that is revoked ends everywhere at once: whoever revokes it is answered when no process can have it in memory any more.
 */
export function requireKey(
  deps: AuthDeps,
  readKey: (ctx: Pick<Koa.Context, 'get'>) => string | undefined = readBearer,
): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const { caller, limits } = await authenticate(deps, readKey(ctx), ctx.ip)
    ctx.state.caller = caller
    ctx.state.limits = limits
    await next()
  }
}

/** The key that a request carries. */
export function readBearer(ctx: Pick<Koa.Context, 'get'>): string | undefined {
  return parseBearer(ctx.get('Authorization'))
}

const ranks: Record<Role, number> = { read: 0, member: 1, admin: 2 }

/** @throws {HttpError} 403 when the caller's key has a lesser role */
export function requireRole({ role }: Caller, min: Role): void {
  if (ranks[role] >= ranks[min]) return
  throw new HttpError(errors.insufficient_role, `This key has the role ${role}. The request needs the role ${min}.`)
}
