import type { Socket } from 'node:net'
import { clientOf } from '../../../lib/http/client-address.ts'
import { admitConnection } from '../../../lib/http/connection-shares.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import type { ErrorDefinition } from '../../../lib/http/error-table.ts'
import type { FindPublicBase } from '../../../lib/http/public-base.ts'
import { errors } from '../../errors/table.ts'
import { turnOf, type Caller } from '../context.ts'
import type { ApiKeyLookup, KnownCaller } from './api-key-lookup.ts'
import { digestOfKey, digestOfSession } from './credentials.ts'
import type { LastUsedTracker } from './last-used.ts'
import { requireSameOrigin } from './same-origin.ts'
import { readSessionCookie, type CredentialRequest } from './session-cookie.ts'
import { setTurn } from '../../../lib/request-scope.ts'

/** What authentication by a key needs. */
interface KeyDeps {
  apiKeys: ApiKeyLookup
  lastUsed: LastUsedTracker
  /** When sessions were last used. */
  sessionsLastUsed: LastUsedTracker
}

/** What authentication needs. */
export interface AuthDeps extends KeyDeps {
  findPublicBase: FindPublicBase
}

/**
 * Authenticates a request by its key, or by a browser's session if it has neither a key nor an Authorization header.
 *
 * @param key the request's key, where its group of operations looks for it
 * @throws {HttpError} 401 for a key or session that is missing, unknown, revoked or expired; for
 * sessions also as `requireSameOrigin` does
 */
export async function authenticate(
  deps: AuthDeps,
  request: CredentialRequest,
  key: string | undefined,
): Promise<KnownCaller> {
  const { socket } = request.req
  if (key !== undefined) return authenticateDigest(deps, digestOfKey(key), socket)
  const session = readSession(deps, request)
  if (session === undefined) throw unauthorized(errors.missing_api_key)
  requireSameOrigin(request, deps.findPublicBase)
  return authenticateDigest(deps, digestOfSession(session), socket, errors.session_ended)
}

/**
 * Authenticates a request by the digest of a key. Keys are looked up by their digest, so the duration reveals nothing
 * about a key's characters.
 *
 * @param socket the connection of the sender
 * @throws {HttpError} as `authenticate` does
 */
export async function authenticateDigest(
  deps: KeyDeps,
  digest: string,
  socket: Socket,
  unknown: ErrorDefinition = errors.invalid_api_key,
): Promise<KnownCaller> {
  const known = await deps.apiKeys.find(digest, clientOf(socket.remoteAddress))
  if (!known) throw unauthorized(unknown)
  welcome(deps, known.caller, socket)
  return known
}

/** From here on, the request waits in the turn of its entity, and its connection is not one of a stranger. */
function welcome({ lastUsed, sessionsLastUsed }: KeyDeps, caller: Caller, socket: Socket): void {
  admitConnection(socket)
  const { keyId, sessionId } = caller
  setTurn(turnOf(caller))
  lastUsed.record(keyId)
  if (sessionId !== undefined) sessionsLastUsed.record(sessionId)
}

/** The secret that a request was authenticated with: its bearer key, or the value of its session. */
export function readSecret(deps: Pick<AuthDeps, 'findPublicBase'>, request: CredentialRequest): string | undefined {
  return parseBearer(request.get('Authorization')) ?? readSession(deps, request)
}

/** A cookie counts only without an Authorization header. */
function readSession({ findPublicBase }: Pick<AuthDeps, 'findPublicBase'>, request: CredentialRequest) {
  return request.get('Authorization') === '' ? readSessionCookie(request, findPublicBase) : undefined
}

/** Reads the key from an `Authorization` header. */
export function parseBearer(header: string): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header)?.[1]
}

/** The error for a missing, malformed, unknown, revoked or expired key. */
function unauthorized(definition: ErrorDefinition): HttpError {
  return new HttpError(definition, undefined, { headers: { 'WWW-Authenticate': 'Bearer' } })
}
