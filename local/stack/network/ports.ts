import { readFileSync } from 'node:fs'
import { listeningRows, probePort } from '../../preflight/ports.mjs'

/** Whether a program could listen on this port of a loopback address. */
export async function isPortFree(port: number, host?: string): Promise<boolean> {
  return (await probePort(port, host)) === undefined
}

/** Returns `preferred` if it is free, else the next free port above `from`. */
export async function pickPort(preferred: number, from: number): Promise<number> {
  if (await isPortFree(preferred)) return preferred
  for (let port = from; port < 65_536; port++) {
    if (await isPortFree(port)) return port
  }
  throw new Error(`no free port from ${from} on`)
}

/** Whether a program listens on an address of this network. The network is its first two octets (`127.3`). */
export function hasListenerIn(network: string): boolean {
  return listensIn(readText('/proc/net/tcp'), network)
}

export function listensIn(text: string, network: string): boolean {
  // /proc writes 127.3.0.5 in reverse, as 0500037F.
  const octets = network.split('.').map((octet) => Number(octet).toString(16).toUpperCase().padStart(2, '0'))
  const ending = octets.toReversed().join('')
  return listeningRows(text).some(({ address }) => address.length === 8 && address.endsWith(ending))
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
