import { HttpError } from '../../lib/http/http-error.ts'
import { errors } from './errors.ts'
import { errors as joseErrors, jwtVerify, type JWTPayload } from 'jose'
import { IssuerUnavailableError, type Issuer, type IssuerKeys } from './issuer-keys.ts'
import { VerifiedTokens } from './verified-tokens.ts'

const audience = 'trainyard-status'
const algorithms = ['RS256', 'ES256', 'ES384', 'ES512', 'PS256']
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whose tokens are accepted. The first account is that of BaseModels that name none. */
export interface Accounts {
  namespace: string
  serviceAccounts: readonly [string, ...string[]]
}

/** The calling pod, as its token proves. */
export interface CallingPod {
  uid: string
  name: string
}

interface PodClaims extends JWTPayload {
  'kubernetes.io'?: {
    namespace?: string
    pod?: { name?: string; uid?: string }
    serviceaccount?: { name?: string }
  }
}

/**
 * Authenticates a pod by the service-account token in its Authorization header. The token must be signed by the
 * cluster, made for this server, and bound to a pod of one of the accounts.
 *
 * @throws {HttpError} 401; 503 while the issuer's keys are unknown
 */
export async function authenticate(
  header: string | undefined,
  keys: IssuerKeys,
  accounts: Accounts,
): Promise<CallingPod> {
  const token = /^Bearer ([^\s]+)$/i.exec(header ?? '')?.[1]
  if (token === undefined) throw rejectToken()
  try {
    return readPod(await verify(token, keys), accounts)
  } catch (error) {
    if (error instanceof IssuerUnavailableError)
      throw new HttpError(errors.issuer_unavailable, error.message, { cause: error, retryAfterSeconds: 1 })
    if (error instanceof joseErrors.JOSEError) throw rejectToken(`the token is rejected: ${error.message}`)
    throw error
  }
}

async function verify(token: string, keys: IssuerKeys): Promise<PodClaims> {
  const issuer = await keys.get()
  try {
    return await verifyBy(token, issuer)
  } catch (error) {
    const renewed = isUnknownIssuer(error) ? await keys.renew() : undefined
    if (!renewed) throw error
    return verifyBy(token, renewed)
  }
}

/** A pod sends the same token for an hour. Its signature is checked once for each reading of the issuer's keys. */
const verified = new WeakMap<Issuer, VerifiedTokens<PodClaims>>()

async function verifyBy(token: string, issuer: Issuer): Promise<PodClaims> {
  const known = verified.get(issuer) ?? new VerifiedTokens<PodClaims>()
  verified.set(issuer, known)
  const earlier = known.find(token)
  if (earlier) return earlier
  const requiredClaims = ['exp', 'iat']
  const options = { issuer: issuer.name, audience, algorithms, requiredClaims, clockTolerance: 5 }
  const { payload } = await jwtVerify<PodClaims>(token, issuer.getKey, options)
  known.keep(token, payload)
  return payload
}

/** The cluster may sign with a new key, or under a new name, since its keys were read. */
function isUnknownIssuer(error: unknown): boolean {
  return (
    error instanceof joseErrors.JWKSNoMatchingKey ||
    (error instanceof joseErrors.JWTClaimValidationFailed && error.claim === 'iss')
  )
}

function readPod(claims: PodClaims, { namespace, serviceAccounts }: Accounts): CallingPod {
  const about = claims['kubernetes.io']
  const account = about?.serviceaccount?.name
  if (about?.namespace !== namespace || account === undefined || !serviceAccounts.includes(account)) {
    const [defaultAccount] = serviceAccounts
    throw rejectToken(`the token is rejected: it does not belong to the service account ${namespace}/${defaultAccount}`)
  }
  const { name, uid } = about.pod ?? {}
  if (name === undefined || uid === undefined || !uuid.test(uid)) {
    throw rejectToken('the token is rejected: it is not bound to a pod')
  }
  return { name, uid }
}

/** A 401. */
export function rejectToken(reason?: string): HttpError {
  return new HttpError(errors.invalid_token, reason, { headers: { 'WWW-Authenticate': 'Bearer' } })
}
