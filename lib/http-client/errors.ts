/** The failures of a connection that no system call reports. */
export type HttpClientErrorCode = 'CONNECT_TIMEOUT' | 'RESPONSE_TIMEOUT' | 'CLOSED' | 'MALFORMED_RESPONSE'

/** A request did not get a whole response. Errors of sockets have the system's codes instead. */
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
