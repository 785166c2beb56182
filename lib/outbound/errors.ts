/** The rule that an address breaks. */
export type Rule =
  | 'syntax' // not a web address, or too long
  | 'scheme'
  | 'userinfo'
  | 'spelling' // the host is not in its usual spelling
  | 'path' // the path has dot segments or encoded slashes
  | 'host' // the administrator does not allow it
  | 'name' // the name only has a meaning in private networks
  | 'network' // it is in a private or reserved network, or its name resolves to one

/**
 * An address that is not requested. The message is for the user who sent it, and contains no secrets of the address.
 */
export class AddressError extends Error {
  override name = 'AddressError'
  readonly rule: Rule

  constructor(rule: Rule, message: string) {
    super(message)
    this.rule = rule
  }
}

/** An address was requested, and the response cannot be used. `unreachable` may succeed later. */
export class ResponseError extends Error {
  override name = 'ResponseError'
  readonly kind: 'unreachable' | 'status' | 'too_large' | 'redirects' | 'encoding'
  readonly status: number | undefined

  constructor(kind: ResponseError['kind'], message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.status = options.status
  }

  /** Whether a retry may help. */
  get transient(): boolean {
    if (this.kind === 'status') return [408, 425, 429].includes(this.status ?? 0) || (this.status ?? 0) >= 500
    return this.kind === 'unreachable'
  }
}
