import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { Agent, request } from 'undici'

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

const timeoutMs = 5_000

/**
 * Reads the issuer from kube-apiserver, with the pod's own token and CA (both are read anew each time: they rotate).
 * Every service account may do so, by the cluster role system:service-account-issuer-discovery.
 */
export function createIssuerReader(address: { host: string; port: number; serviceAccountDir: string }): ReadIssuer {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  const origin = `https://${host}:${address.port}`
  return async () => {
    const ca = await readFile(path.join(address.serviceAccountDir, 'ca.crt'))
    const token = (await readFile(path.join(address.serviceAccountDir, 'token'), 'utf8')).trim()
    const dispatcher = new Agent({
      connect: { ca, timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    try {
      const get = (route: string) => getJson(origin + route, token, dispatcher)
      const [discovery, keys] = await Promise.all([get('/.well-known/openid-configuration'), get('/openid/v1/jwks')])
      return toIssuer(discovery, keys)
    } finally {
      await dispatcher.destroy()
    }
  }
}

async function getJson(url: string, token: string, dispatcher: Agent): Promise<unknown> {
  const { statusCode, body } = await request(url, { dispatcher, headers: { authorization: `Bearer ${token}` } })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`kube-apiserver answered ${statusCode} to GET ${new URL(url).pathname}`)
  return JSON.parse(text)
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
