/** Which rule an address breaks. */
export type Rule =
  | 'syntax' // it is no address of the web, or longer than any
  | 'scheme'
  | 'userinfo'
  | 'spelling' // its host is written in another way than the usual one
  | 'path' // it climbs, or hides a slash
  | 'host' // the administrator does not allow it
  | 'name' // a name that means something on the inside only
  | 'network' // it lies in, or its name leads to, a private or reserved network

/** An address that is not requested. The message is for the user who sent it. It holds nothing secret of the address. */
export class AddressError extends Error {
  override name = 'AddressError'
  readonly rule: Rule

  constructor(rule: Rule, message: string) {
    super(message)
    this.rule = rule
  }
}

/** An address was asked, and what came cannot be used; `unreachable` may be another time. */
export class ResponseError extends Error {
  override name = 'ResponseError'
  readonly kind: 'unreachable' | 'status' | 'too_large' | 'redirects' | 'encoding'
  readonly status: number | undefined

  constructor(kind: ResponseError['kind'], message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.status = options.status
  }

  /** Whether asking again may help. */
  get transient(): boolean {
    if (this.kind === 'status') return [408, 425, 429].includes(this.status ?? 0) || (this.status ?? 0) >= 500
    return this.kind === 'unreachable'
  }
}
