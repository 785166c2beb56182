import { HttpError } from '../../../lib/http/http-error.ts'
import type { FindPublicBase } from '../../../lib/http/public-base.ts'
import { errors } from '../../errors/table.ts'
import type { CredentialRequest } from './session-cookie.ts'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Rejects requests with a cookie that another site may have caused. Requests that change nothing are accepted: their
 * answers are hidden from other sites.
 *
 * @throws {HttpError} 403 for another origin, 415 for a body that an HTML form could send
 */
export function requireSameOrigin(request: CredentialRequest, findPublicBase: FindPublicBase): void {
  if (safeMethods.has(request.req.method ?? '')) return
  if (!isSameOrigin(request, findPublicBase)) throw new HttpError(errors.cross_site_request)
  if (!hasBody(request) || /^application\/json\s*(;|$)/i.test(request.get('Content-Type'))) return
  throw new HttpError(
    errors.unsupported_media_type,
    'A request with a session has a body of "Content-Type: application/json". Send other bodies with an API key.',
  )
}

/** Whether a page of this server has sent the request. Browsers set both headers, and pages cannot change them. */
export function isSameOrigin(request: CredentialRequest, findPublicBase: FindPublicBase): boolean {
  // Browsers leave it out on plain HTTP, except on this machine.
  const site = request.get('Sec-Fetch-Site')
  if (site !== '') return site === 'same-origin'
  const origin = request.get('Origin')
  // A proxy may end TLS, or be another address of this server. The Host is that of the address in the browser.
  return origin !== '' && [hostOf(findPublicBase(request.req)), request.get('Host')].includes(hostOf(origin))
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined
}

function hasBody({ req: { headers } }: CredentialRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
