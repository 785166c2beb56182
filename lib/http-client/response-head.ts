import { malformed } from './errors.ts'

/** The status line and the headers of a response. */
export interface ResponseHead {
  statusCode: number
  /** By their names in lower case. Values of repeated headers are joined. */
  headers: Readonly<Record<string, string>>
  /** How the end of the body is found: by its length, by chunks, or by the end of the connection. */
  framing: number | 'chunked' | 'until-close'
  /** Whether the connection can be used for another request. */
  isReusable: boolean
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r]*)?(?:\r\n|$)/
const nameCharacters = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
// Each line must end with both characters.
const forbidden = /\0|\r(?!\n)|(?<!\r)\n/
const length = /^\d{1,15}$/
// A server sends the same few headers with each response.
const maxKnownNames = 200
/** Names of headers as servers write them, and in lower case. */
const knownNames = new Map<string, string>()

/** Parses the status line and the headers, without the empty line after them. @throws {HttpClientError} */
export function parseHead(text: string): ResponseHead {
  const [, minor, status] = statusLine.exec(text) ?? []
  if (status === undefined) throw malformed('no status line of HTTP/1')
  if (forbidden.test(text)) throw malformed('a malformed header')
  const headers = parseHeaders(text)
  const statusCode = Number(status)
  const framing = readFraming(statusCode, headers)
  const closes = minor === '0' || framing === 'until-close' || /\bclose\b/i.test(headers['connection'] ?? '')
  return { statusCode, headers, framing, isReusable: !closes }
}

function parseHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (let end = text.indexOf('\r\n'); end !== -1;) {
    const start = end + 2
    end = text.indexOf('\r\n', start)
    const colon = text.indexOf(':', start)
    // If the colon belongs to a later line, the name contains a line end, and no name may contain one.
    const name = readName(text.slice(start, Math.max(start, colon)))
    const value = text.slice(colon + 1, end === -1 ? undefined : end).trim()
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}, ${value}`
  }
  return headers
}

function readName(written: string): string {
  const known = knownNames.get(written)
  if (known !== undefined) return known
  const name = written.toLowerCase()
  if (!nameCharacters.test(name)) throw malformed('a malformed header')
  if (knownNames.size < maxKnownNames) knownNames.set(written, name)
  return name
}

/** Rejects a response whose end two parsers could find at different places (RFC 9112, section 6.3). */
function readFraming(statusCode: number, headers: Record<string, string>): ResponseHead['framing'] {
  const { 'transfer-encoding': encoding, 'content-length': announced } = headers
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== 'chunked' || announced !== undefined) throw malformed('an unknown transfer encoding')
    return 'chunked'
  }
  if (announced !== undefined && !length.test(announced)) throw malformed('a malformed length')
  if (statusCode < 200 || statusCode === 204 || statusCode === 304) return 0
  return announced === undefined ? 'until-close' : Number(announced)
}
