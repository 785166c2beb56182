import { lookup } from 'node:dns'
import { pipeline, type Readable } from 'node:stream'
import { Agent, request, type Dispatcher } from 'undici'
import { checkUrl, type UrlRules } from './check-url.ts'
import { createHostList } from './hosts.ts'
import { LimitedBody, toResponseError } from './limited-body.ts'
import { createAddressCheck } from './networks.ts'
import { AddressError, ResponseError } from './errors.ts'
import { createCheckedLookup, type Resolve } from './resolve.ts'

const connectTimeoutMs = 5_000
const headersTimeoutMs = 30_000
// The time without a byte.
const idleTimeoutMs = 60_000
const wholeTimeoutMs = 600_000
const maxRedirects = 5
const maxHeaderBytes = 16 * 1024

/** Which addresses may be requested. */
export interface OutboundSettings {
  /** `files.example.com`, `*.example.com`, `https://HOST:PORT`, or `http://HOST` for plain http. `*` is every host. */
  hosts: readonly string[]
  /** Private networks that may be requested, such as `10.0.0.0/8`. */
  privateNetworks: readonly string[]
  /** Resolves names. Default: the machine's own resolver. */
  resolve?: Resolve
}

export interface OutboundRequest {
  /** Default: GET. */
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** The body's stream fails after this many bytes. */
  maxBytes: number
  /** Default and maximum: ten minutes. */
  timeoutMs?: number
  signal?: AbortSignal
}

export interface OutboundAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** Read it to its end or destroy it. It fails with a ResponseError. */
  body: Readable
}

/** Requests addresses that users gave. */
export interface Outbound {
  /** Checks an address without a request. @throws {AddressError} */
  check(address: string): URL
  /** Sends one request. Returns redirects without following them. @throws {AddressError | ResponseError} */
  ask(address: string, options: OutboundRequest): Promise<OutboundAnswer>
  /**
   * GETs an address and follows at most five redirects. Any status but 200 is an error. @throws {AddressError |
   * ResponseError}
   */
  fetch(address: string, options: Pick<OutboundRequest, 'maxBytes' | 'signal'>): Promise<OutboundAnswer>
  /** Aborts running requests. */
  close(): Promise<void>
}

/**
 * Protects outgoing requests. Every address, also of a redirect, is checked first by its text and then by the addresses
 * that its name resolves to. Time and size are limited.
 *
 * @throws {ConfigError} for invalid settings
 */
export function createOutbound({ hosts, privateNetworks, resolve = lookup }: OutboundSettings): Outbound {
  const rules: UrlRules = { listHost: createHostList(hosts), isOpen: createAddressCheck(privateNetworks) }
  const agent = new Agent({
    connect: { timeout: connectTimeoutMs, lookup: createCheckedLookup(resolve, rules.isOpen) },
    headersTimeout: headersTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
  })
  const ask: Outbound['ask'] = async (address, options) => {
    const url = checkUrl(address, rules)
    return present(await send(agent, url, options), options.maxBytes)
  }
  return {
    check: (address) => checkUrl(address, rules),
    ask,
    fetch: (address, options) => follow(ask, address, options),
    close: () => agent.destroy(),
  }
}

async function send(agent: Agent, url: URL, options: OutboundRequest): Promise<Dispatcher.ResponseData> {
  const time = AbortSignal.timeout(options.timeoutMs ?? wholeTimeoutMs)
  const signal = options.signal ? AbortSignal.any([time, options.signal]) : time
  const headers = { 'user-agent': 'trainyard', 'accept-encoding': 'identity', ...options.headers }
  const { method = 'GET', body = null } = options
  try {
    return await request(url, { dispatcher: agent, method, headers, body, signal })
  } catch (error) {
    throw toResponseError(error)
  }
}

async function follow(
  ask: Outbound['ask'],
  address: string,
  options: Pick<OutboundRequest, 'maxBytes' | 'signal'>,
): Promise<OutboundAnswer> {
  // All redirects together have the time of one request.
  const time = AbortSignal.timeout(wholeTimeoutMs)
  const signal = options.signal ? AbortSignal.any([time, options.signal]) : time
  for (let [at, redirects] = [address, 0]; ; redirects++) {
    const answer = await ask(at, { maxBytes: options.maxBytes, signal })
    if (answer.status === 200) return requirePlain(answer)
    discard(answer)
    const { location } = answer.headers
    if (![301, 302, 303, 307, 308].includes(answer.status) || typeof location !== 'string') throw wrongStatus(answer)
    if (redirects === maxRedirects) throw new ResponseError('redirects', `it redirects more than ${maxRedirects} times`)
    at = readLocation(location, at)
  }
}

/** A relative location is resolved against its origin. An absolute one stays as written, to be checked as written. */
function readLocation(location: string, from: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location
  if (/^[/\\]{2}|[\\\t\r\n]/.test(location) || !URL.canParse(location, from)) {
    throw new AddressError('syntax', 'it redirects to an invalid address')
  }
  return new URL(location, from).href
}

function requirePlain(answer: OutboundAnswer): OutboundAnswer {
  if ([undefined, '', 'identity'].includes(String(answer.headers['content-encoding'] ?? ''))) return answer
  discard(answer)
  throw new ResponseError('encoding', 'the server sends it compressed, which is not supported')
}

function wrongStatus({ status }: OutboundAnswer): ResponseError {
  return new ResponseError('status', `its server answered ${status}`, { status })
}

function present({ statusCode, headers, body }: Dispatcher.ResponseData, maxBytes: number): OutboundAnswer {
  const limited = new LimitedBody(maxBytes)
  // The end of either stream ends the other. The reader gets errors from the limited one.
  pipeline(body, limited, () => {})
  const answer = { status: statusCode, headers, body: limited }
  if (Number(headers['content-length'] ?? 0) <= maxBytes) return answer
  discard(answer)
  throw limited.error
}

/** Nobody reads the rest of the response, so its connection is closed. */
function discard({ body }: OutboundAnswer): void {
  body.on('error', () => {}).destroy()
}
