/** A request that does not follow OTLP. The message explains it to the client. */
export class OtlpError extends Error {
  override name = 'OtlpError'
}
