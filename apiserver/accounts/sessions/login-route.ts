import { clientOf } from '../../../lib/http/client-address.ts'
import type { Router } from '@koa/router'
import { openBody, parseBody } from '../../../lib/http/body.ts'
import type { HttpContext } from '../../../lib/http/context.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { compileBody } from '../../../lib/http/validation/compile.ts'
import { errors } from '../../errors/table.ts'
import type { AuthDeps } from '../keys/authenticate.ts'
import { isSameOrigin } from '../keys/same-origin.ts'
import { writeSessionCookie } from '../keys/session-cookie.ts'
import { LoginLimiter } from './login-limiter.ts'
import { presentSession } from './present.ts'
import { sessionPath } from './routes.ts'
import { loginSchema } from './schema.ts'
import { findTimes, logIn, type LoginDeps } from './service.ts'

const bodyLimitBytes = 4_096

/** Logs browsers in. It needs no key in the header. */
export function routeLogin(router: Router, deps: LoginDeps & Pick<AuthDeps, 'findPublicBase'>): void {
  const limiter = new LoginLimiter()
  const parseLogin = compileBody(loginSchema)
  router.post(sessionPath, async (ctx) => {
    requireOwnPage(deps, ctx)
    const login = parseLogin(parseBody(await readAll(openBody(ctx, bodyLimitBytes))))
    const { value, known } = await logIn(deps, limiter, { login, address: clientOf(ctx.req.socket.remoteAddress) })
    ctx.set('Set-Cookie', writeSessionCookie(ctx, deps.findPublicBase, value))
    ctx.body = presentSession(known.caller, await findTimes(deps.pool, known.caller))
  })
}

/** Another site must not log somebody in as somebody else. Programs send neither header. */
function requireOwnPage({ findPublicBase }: Pick<AuthDeps, 'findPublicBase'>, ctx: HttpContext): void {
  const isBrowser = ctx.get('Sec-Fetch-Site') !== '' || ctx.get('Origin') !== ''
  if (isBrowser && !isSameOrigin(ctx, findPublicBase)) throw new HttpError(errors.cross_site_request)
  if (/^application\/json\s*(;|$)/i.test(ctx.get('Content-Type'))) return
  throw new HttpError(errors.unsupported_media_type, 'The body must be JSON: send "Content-Type: application/json".')
}

async function readAll(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
