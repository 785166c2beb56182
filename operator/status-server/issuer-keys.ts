import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { KubeClient } from '../../lib/kube/client.ts'

/** Whose tokens are believed: the issuer's name and its public keys. */
export interface Issuer {
  name: string
  getKey: JWTVerifyGetKey
}

/** The cluster's issuer, as its API server tells it. */
export type ReadIssuer = () => Promise<Issuer>

/** The issuer cannot be asked now, and nothing of it is known. */
export class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable'
}

/**
 * Reads the issuer from kube-apiserver. Every service account may do so, by the cluster role
 * system:service-account-issuer-discovery.
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
const refreshAtMostEveryMs = 2_000

/**
 * Keeps what was read of the issuer, so that tokens are still checked while kube-apiserver is away. Old knowledge is
 * renewed in the background.
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

  /** What is known; read now if nothing is. @throws {IssuerUnavailable} */
  async get(): Promise<Issuer> {
    if (!this.#known) return this.#refresh()
    if (this.#now() - this.#triedAt > staleAfterMs) this.#refresh().catch(() => {})
    return this.#known
  }

  /**
   * Reads anew, for a token by a key that is not known: undefined when that was done a moment ago, so that bad tokens
   * do not become requests to kube-apiserver. @throws {IssuerUnavailable}
   */
  async renew(): Promise<Issuer | undefined> {
    if (!this.#reading && this.#now() - this.#triedAt < refreshAtMostEveryMs) return undefined
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
      throw new IssuerUnavailable('the keys that tokens are checked with cannot be read from kube-apiserver now', {
        cause,
      })
    }
  }
}
