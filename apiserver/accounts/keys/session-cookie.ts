import type { IncomingMessage } from 'node:http'
import type { FindPublicBase } from '../../../lib/http/public-base.ts'
import { sessionHours } from '../../../db/accounts/sessions.ts'

export interface CredentialRequest {
  get: (name: string) => string
  req: IncomingMessage
}

// A browser accepts the first name only with Secure, for this host and all its paths. So no other host, and nobody who can
// change plain HTTP, can set it.
const secureName = '__Host-ty_session'
const plainName = 'ty_session'
const valuePattern = /^[\w-]{43}$/

/** The value of a request's session cookie. */
export function readSessionCookie(request: CredentialRequest, findPublicBase: FindPublicBase): string | undefined {
  const header = request.get('Cookie')
  if (header === '') return undefined
  const secure = findCookie(header, secureName)
  if (secure !== undefined || isSecure(request, findPublicBase)) return secure
  return findCookie(header, plainName)
}

/** The Set-Cookie header for a session's value. An empty value removes the cookie. */
export function writeSessionCookie(request: CredentialRequest, findPublicBase: FindPublicBase, value: string): string {
  const isHttps = isSecure(request, findPublicBase)
  const seconds = value === '' ? 0 : sessionHours.longest * 3_600
  const name = isHttps ? secureName : plainName
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`
}

function findCookie(header: string, name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim())
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
  return value !== undefined && valuePattern.test(value) ? value : undefined
}

/** Whether the browser speaks HTTPS. Behind a proxy that ends TLS, its Origin knows best. */
function isSecure(request: CredentialRequest, findPublicBase: FindPublicBase): boolean {
  const here = `https://${request.get('Host')}`
  const { origin } = new URL(findPublicBase(request.req))
  const sent = request.get('Origin')
  if (sent === '') return origin === here
  return sent.startsWith('https:') && [here, origin].includes(sent)
}
