import type { IncomingMessage } from 'node:http'
import { isListed, readNetworks } from './client-address.ts'

/** How clients reach this server. */
export interface PublicBaseSettings {
  /** The address that clients use, if it is configured. */
  publicUrl: string | undefined
  /** Networks in CIDR form, or single addresses, of proxies whose `X-Forwarded-Proto` and `X-Forwarded-Host` count. */
  trustedProxies: readonly string[]
}

/** Finds the absolute address that a request was sent to, without a slash at its end. */
export type FindPublicBase = (request: IncomingMessage) => string

// What a Host header may contain: a name, an IPv4 address or an IPv6 address in brackets, and a port.
const hostPattern = /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i
const fallbackHost = 'localhost'

/**
 * Creates the function that finds the base of absolute links. A configured address is always used. Without it, it is
 * the Host header, and headers of proxies count only if they come from a trusted one: otherwise a client could make
 * links that lead elsewhere.
 *
 * @throws {RangeError} for a network that is none
 */
export function createPublicBase({ publicUrl, trustedProxies }: PublicBaseSettings): FindPublicBase {
  const configured = publicUrl?.replace(/\/+$/, '')
  const proxies = readNetworks(trustedProxies)
  return (request) => configured ?? readBase(request, isListed(proxies, request.socket.remoteAddress ?? ''))
}

function readBase({ headers }: IncomingMessage, isForwarded: boolean): string {
  const forwardedProto = isForwarded ? readFirst(headers['x-forwarded-proto']) : undefined
  const forwardedHost = isForwarded ? readFirst(headers['x-forwarded-host']) : undefined
  const host = [forwardedHost, headers.host].find((each) => each !== undefined && hostPattern.test(each))
  return `${forwardedProto?.toLowerCase() === 'https' ? 'https' : 'http'}://${host ?? fallbackHost}`
}

/** The first of a header's values: it is what the client of the outermost proxy sent. */
function readFirst(header: string | string[] | undefined): string | undefined {
  return [header].flat()[0]?.split(',')[0]?.trim()
}
