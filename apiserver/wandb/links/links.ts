import { HttpError } from '../../../lib/http/http-error.ts'
import { readLinkSecret } from '../../../db/wandb/link-secret.ts'
import type { Pool } from '../../../db/pool.ts'
import { errors } from '../../errors/table.ts'
import { isSignature, signClaims, type LinkClaims } from './signature.ts'

/** A request that a link permits. The path begins with a slash, and is encoded. */
export interface LinkTarget {
  /** GET permits HEAD too. */
  method: 'GET' | 'PUT'
  path: string
}

/** Makes an absolute link. It needs no header of authorization, and ends after an hour, or with the key. */
export type LinkSigner = (target: LinkTarget) => string

// A client that uploads a thousand files asks for all links at once, and a file of 2 GiB takes minutes on a slow line.
// A request counts from its start, so a running transfer does not end.
const linkSeconds = 60 * 60

/** Signed links: SDKs get them in answers, and send no key with them. All processes sign with the same secret. */
export class Links {
  readonly #pool: Pool
  #secret: Promise<Buffer> | undefined

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Opens the signer of a key's links. */
  async openSigner(base: string, keyDigest: string): Promise<LinkSigner> {
    const secret = await this.#open()
    const expires = Math.floor(Date.now() / 1_000) + linkSeconds
    return ({ method, path }) => {
      const claims = { method, path, expires, keyDigest }
      const query = new URLSearchParams({
        expires: String(expires),
        key: keyDigest,
        signature: signClaims(secret, claims),
      })
      return `${base}${path}?${query.toString()}`
    }
  }

  /**
   * Checks the link of a request. @returns the digest of its key, which must still be valid
   *
   * @throws {HttpError} 403 for a link that was changed, has expired or is for another method
   */
  async check(method: string, url: string): Promise<string> {
    const claims = readClaims(method, url)
    const isRight = claims && isSignature(await this.#open(), claims, claims.signature)
    if (!claims || !isRight || claims.expires * 1_000 < Date.now()) throw new HttpError(errors.invalid_link)
    return claims.keyDigest
  }

  /** Reads the secret once. A failure is not kept. */
  #open(): Promise<Buffer> {
    this.#secret ??= readLinkSecret(this.#pool).catch((error: unknown) => {
      this.#secret = undefined
      throw error
    })
    return this.#secret
  }
}

function readClaims(method: string, url: string): (LinkClaims & { signature: string }) | undefined {
  const at = url.indexOf('?')
  const query = new URLSearchParams(at === -1 ? '' : url.slice(at))
  const [expires, keyDigest, signature] = ['expires', 'key', 'signature'].map((name) => query.get(name) ?? '')
  if (!/^\d{1,12}$/.test(expires!) || !/^[\w-]{43}$/.test(keyDigest!)) return undefined
  return {
    method: method === 'HEAD' ? 'GET' : method,
    path: url.slice(0, at),
    expires: Number(expires),
    keyDigest: keyDigest!,
    signature: signature!,
  }
}
