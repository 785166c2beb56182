import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { KubeClient } from '../../lib/kube/client.ts'

/** The issuer whose tokens are trusted: its name and its public keys. */
export interface Issuer {
  name: string
  getKey: JWTVerifyGetKey
}

/** Reads the cluster's issuer from its API server. */
export type ReadIssuer = () => Promise<Issuer>

/** The issuer cannot be read now, and none is cached. */
export class IssuerUnavailableError extends Error {
  override name = 'IssuerUnavailable'
}

/**
 * Reads the issuer from kube-apiserver. The cluster role system:service-account-issuer-discovery allows this to every
 * service account.
 */
export function createIssuerReader(client: KubeClient): ReadIssuer {
  return async () => {
    const [discovery, keys] = await Promise.all([
      client.request({ path: '/.well-known/openid-configuration' }),
      client.request({ path: '/openid/v1/jwks', accept: 'application/jwk-set+json' }),
    ])
    return toIssuer(discovery, keys)
  }
}

function toIssuer(discovery: unknown, keys: unknown): Issuer {
  const name = (discovery as { issuer?: unknown }).issuer
  if (typeof name !== 'string' || name === '') throw new Error('kube-apiserver tells no issuer')
  return { name, getKey: createLocalJWKSet(keys as JSONWebKeySet) }
}

const staleAfterMs = 10 * 60_000
const minRefreshIntervalMs = 2_000

/**
 * Caches the issuer, so that tokens can be checked while kube-apiserver is unavailable. Refreshes an old entry in the
 * background.
 */
export class IssuerKeys {
  readonly #read: ReadIssuer
  readonly #now: () => number
  #known: Issuer | undefined
  #triedAt = -Infinity
  #reading: Promise<Issuer> | undefined

  constructor(read: ReadIssuer, now: () => number = Date.now) {
    this.#read = read
    this.#now = now
  }

  /** Returns the cached issuer, or reads it. @throws {IssuerUnavailableError} */
  async get(): Promise<Issuer> {
    if (!this.#known) return this.#refresh()
    if (this.#now() - this.#triedAt > staleAfterMs) this.#refresh().catch(() => {})
    return this.#known
  }

  /**
   * Reads the issuer again, for a token with an unknown key. Returns undefined if it was read less than two seconds
   * ago, so that bad tokens do not become requests to kube-apiserver. @throws {IssuerUnavailableError}
   */
  async renew(): Promise<Issuer | undefined> {
    if (!this.#reading && this.#now() - this.#triedAt < minRefreshIntervalMs) return undefined
    return this.#refresh()
  }

  #refresh(): Promise<Issuer> {
    this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #readOnce(): Promise<Issuer> {
    this.#triedAt = this.#now()
    try {
      this.#known = await this.#read()
      return this.#known
    } catch (cause) {
      throw new IssuerUnavailableError('the keys that tokens are checked with cannot be read from kube-apiserver now', {
        cause,
      })
    }
  }
}
