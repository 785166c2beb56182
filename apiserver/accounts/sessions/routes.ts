import type { Pool } from '../../../db/pool.ts'
import type { AuthDeps } from '../keys/authenticate.ts'
import { writeSessionCookie } from '../keys/session-cookie.ts'
import type { RestApi } from '../rest-api.ts'
import { presentSession } from './present.ts'
import { loginSchema, sessionSchema } from './schema.ts'
import { findTimes, logOut } from './service.ts'

export const sessionPath = '/v1/preview/session'

const tag = 'Keys'

interface SessionDeps extends Pick<AuthDeps, 'findPublicBase'> {
  pool: Pool
}

/** Sessions of browsers. Who logs in has no session yet: see login-route.ts. */
export function routeSessions(api: RestApi, { pool, findPublicBase }: SessionDeps): void {
  api.declare('post', sessionPath, {
    tag,
    summary: 'Log a browser in with a key or a login code',
    description:
      'Sets a cookie that has the rights of the key until one of both ends: 12 hours after its last use, or after 30 ' +
      'days. The cookie counts for all paths where a key counts, in requests without `Authorization`. Requests that ' +
      'change something must come from a page of this server, with a JSON body if they have one. `npm run console` ' +
      'makes codes. A code can be used once, for 10 minutes.',
    body: loginSchema,
    answer: sessionSchema,
    needsNoKey: true,
  })

  api.get(sessionPath, { tag, summary: 'Get who sends the request', answer: sessionSchema }, async ({ caller }) =>
    presentSession(caller, await findTimes(pool, caller)),
  )

  api.delete(
    sessionPath,
    { tag, summary: 'Log a browser out', description: 'A key stays as it is.', role: 'read', status: 204 },
    async ({ ctx, caller: { sessionId } }) => {
      if (sessionId !== undefined) await logOut(pool, sessionId)
      ctx.set('Set-Cookie', writeSessionCookie(ctx, findPublicBase, ''))
      ctx.status = 204
    },
  )
}
