import { createHash } from 'node:crypto'
import type Koa from 'koa'
import { findKeyEntity } from '../../db/queries/api-keys.ts'
import type { Pool } from '../../db/pool.ts'
import { unauthorized } from '../refusal.ts'
import type { RequestState } from './context.ts'

/**
 * Lets a request through whose bearer key is known and not revoked, before a byte of its body is read.
 *
 * Keys are looked up by their digest, so the time that it takes says nothing about a key's characters.
 */
export function requireKey(pool: Pool): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const key = /^bearer +(\S+) *$/i.exec(ctx.get('Authorization'))?.[1]
    if (key === undefined) throw unauthorized()
    const entity = await findKeyEntity(pool, createHash('sha256').update(key).digest())
    if (entity === undefined) throw unauthorized()
    ctx.state.entity = entity
    await next()
  }
}
