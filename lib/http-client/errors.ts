/** What went wrong with a connection that no system call reports. */
export type HttpClientErrorCode = 'CONNECT_TIMEOUT' | 'RESPONSE_TIMEOUT' | 'CLOSED' | 'MALFORMED_RESPONSE'

/** A request got no whole response. Errors of sockets have their system's codes instead. */
export class HttpClientError extends Error {
  override name = 'HttpClientError'
  readonly code: HttpClientErrorCode

  constructor(code: HttpClientErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export function malformed(what: string): HttpClientError {
  return new HttpClientError('MALFORMED_RESPONSE', `a server sent ${what}`)
}
