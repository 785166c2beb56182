import { isIP } from 'node:net'
import { ConfigError } from '../config.ts'

interface Entry {
  scheme: 'http' | 'https'
  /** A name or an address. `*.` before a name matches all names below it; `*` alone matches every host. */
  host: string
  /** A number; `*` matches every port. */
  port: string
}

/** How a host is on the administrator's list, if it is. */
export type Listing = 'exact' | 'pattern' | 'none'

// [http://|https://]HOST[:PORT], as in files.example.com, *.example.com:8443, http://127.0.0.1:*
const entryPattern =
  /^(?:(https?):\/\/)?(\*|(?:\*\.)?[a-z0-9](?:[a-z0-9_-]|\.(?!\.|:|$))*|\[[0-9a-f:.]+\])(?::(\d{1,5}|\*))?$/i

const defaultPorts = { http: '80', https: '443' }

/**
 * Compiles the hosts that an administrator allows. An entry without a scheme means https. An entry without a port means
 * the scheme's default port.
 *
 * @throws {ConfigError}
 */
export function createHostList(entries: readonly string[]): (url: URL) => Listing {
  const list = entries.map(readEntry)
  return (url) => {
    const scheme = url.protocol.slice(0, -1) as Entry['scheme']
    const port = url.port || defaultPorts[scheme]
    const fitting = list.filter((entry) => entry.scheme === scheme && (entry.port === '*' || entry.port === port))
    if (fitting.some(({ host }) => host === url.hostname)) return 'exact'
    return fitting.some(({ host }) => coversByPattern(host, url.hostname)) ? 'pattern' : 'none'
  }
}

function readEntry(entry: string): Entry {
  const [, given, host = '', port] = entryPattern.exec(entry) ?? []
  if (host === '') {
    throw new ConfigError(
      'bad configuration: an allowed host must have the form files.example.com, *.example.com or https://HOST:PORT',
    )
  }
  const scheme = given?.toLowerCase() === 'http' ? 'http' : 'https'
  return { scheme, host: host.toLowerCase(), port: port === undefined ? defaultPorts[scheme] : readPort(port) }
}

function readPort(port: string): string {
  return port === '*' ? port : String(Number(port))
}

/** `*.example.com` matches names below example.com, but neither example.com itself nor addresses. */
function coversByPattern(pattern: string, host: string): boolean {
  if (pattern === '*') return true
  return pattern.startsWith('*.') && host.endsWith(pattern.slice(1)) && isIP(host) === 0
}
