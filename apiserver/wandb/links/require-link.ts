import type Koa from 'koa'
import { authenticateDigest, type AuthDeps } from '../../accounts/keys/authenticate.ts'
import type { WandbState } from '../wandb-api.ts'
import type { Links } from './links.ts'

/**
 * Requires a link of ours before it reads any of the body. The caller is the one whose key the link was made for, and
 * the key must still be valid.
 */
export function requireLink(deps: AuthDeps & { links: Links }): Koa.Middleware<WandbState> {
  return async (ctx, next) => {
    const keyDigest = await deps.links.check(ctx.method, ctx.req.url ?? '')
    const digest = Buffer.from(keyDigest, 'base64url').toString('base64')
    const { caller, limits } = await authenticateDigest(deps, digest, ctx.req.socket)
    Object.assign(ctx.state, { caller, limits, keyDigest } satisfies WandbState)
    await next()
  }
}
