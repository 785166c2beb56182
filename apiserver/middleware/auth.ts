import { createHash } from 'node:crypto'
import type Koa from 'koa'
import { findKey } from '../../db/queries/api-keys.ts'
import type { Pool } from '../../db/pool.ts'
import { Refusal, unauthorized } from '../refusal.ts'
import type { Caller, RequestState, Role } from './context.ts'

/**
 * Lets a request through whose bearer key is known, not revoked and not expired, before a byte of its body is read.
 *
 * Keys are looked up by their digest, so the time that it takes says nothing about a key's characters.
 */
export function requireKey(pool: Pool): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const key = /^bearer +(\S+) *$/i.exec(ctx.get('Authorization'))?.[1]
    if (key === undefined) throw unauthorized()
    const caller = await findKey(pool, createHash('sha256').update(key).digest())
    if (caller === undefined) throw unauthorized()
    ctx.state.caller = caller
    await next()
  }
}

const ranks: Record<Role, number> = { read: 0, member: 1, admin: 2 }

/** @throws {Refusal} 403 when the caller's key has a lesser role */
export function requireRole({ role }: Caller, least: Role): void {
  if (ranks[role] >= ranks[least]) return
  throw new Refusal(403, `This key has the role ${role}; ${least} is needed.`)
}
