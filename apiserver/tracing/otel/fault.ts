/** What a client sent is not what it should be; the message says what, in words for its author. */
export class OtelFault extends Error {
  override name = 'OtelFault'
}
