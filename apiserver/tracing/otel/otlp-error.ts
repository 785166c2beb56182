/** What a client sent is not what it should be; the message says what, in words for its author. */
export class OtlpError extends Error {
  override name = 'OtlpError'
}
