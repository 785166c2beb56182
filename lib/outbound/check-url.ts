import { isIP } from 'node:net'
import type { Listing } from './hosts.ts'
import type { AddressCheck } from './networks.ts'
import { AddressError } from './errors.ts'

/** The rules for addresses. */
export interface UrlRules {
  listHost: (url: URL) => Listing
  isOpen: AddressCheck
}

// Signed addresses of clouds have about 2,000 characters.
const maxAddressLength = 4096

const shape = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?[^#]*)?(?:#.*)?$/i

// A dot segment in any spelling, or an encoded slash, backslash or NUL.
const pathEscape = /(^|\/)(\.|%2e){1,2}(\/|$)|%(2f|5c|00|25(2e|2f|5c|00))/i

// Names that private networks and clusters resolve.
const insideName = /^[^.]+$|\.(localhost|localdomain|local|internal|intranet|lan|home|corp|arpa|test|invalid|onion)$/

/**
 * Parses an address from a user and checks everything that needs no DNS.
 *
 * The URL parser tolerates a lot (tabs, backslashes, octal addresses, missing slashes), and other parsers tolerate
 * other things. So only the plain spelling is accepted.
 *
 * @throws {AddressError}
 */
export function checkUrl(address: string, rules: UrlRules): URL {
  const { scheme, authority, path } = split(address)
  if (scheme !== 'https' && scheme !== 'http') reject('scheme', 'the address must begin with https://')
  if (authority.includes('@')) reject('userinfo', 'an address must not contain a user name or password')
  if (!URL.canParse(address) || authority === '') reject('syntax', 'this is not a valid address')
  const url = new URL(address)
  checkHost(url, authority, rules)
  if (pathEscape.test(path)) reject('path', 'the path must not contain dot segments or encoded slashes')
  url.hash = ''
  return url
}

function split(address: string) {
  // Printable ASCII, without characters that the URL parser drops, converts or encodes.
  if (!/^[\x21-\x7e]*$/.test(address) || /[\\<>"{}|^`]/.test(address)) {
    reject('syntax', 'it has characters that an address cannot have; encode them')
  }
  if (address.length > maxAddressLength) reject('syntax', `it is longer than ${maxAddressLength} characters`)
  const [, scheme = '', authority = '', path = ''] = shape.exec(address) ?? []
  if (scheme === '') reject('syntax', 'this is not a valid address')
  return { scheme: scheme.toLowerCase(), authority, path }
}

function checkHost(url: URL, authority: string, { listHost, isOpen }: UrlRules): void {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isAddress = isIP(host) !== 0
  if (isAddress && !isOpen(host)) reject('network', `${url.hostname} lies in a private or reserved network`)
  const given = authority.replace(/:\d*$/, '').toLowerCase()
  if (given !== url.hostname || authority.endsWith(':') || given.endsWith('.') || given.includes('..')) {
    reject('spelling', 'its host is not written in the usual way')
  }
  const listing = listHost(url)
  if (!isAddress && listing !== 'exact' && insideName.test(host)) {
    reject('name', `${host} is a name of an internal network`)
  }
  if (listing === 'none' || url.port === '0') reject('host', `${url.host} is not a host that is allowed here`)
}

function reject(...[rule, reason]: ConstructorParameters<typeof AddressError>): never {
  throw new AddressError(rule, reason)
}
