import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import net from 'node:net'

/** Whether this port of a loopback address can be listened on. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** `preferred` when it is free, else the next free one above `from`. */
export async function pickPort(preferred: number, from: number): Promise<number> {
  if (await isPortFree(preferred)) return preferred
  for (let port = from; port < 65_536; port++) {
    if (await isPortFree(port)) return port
  }
  throw new Error(`no free port from ${from} on`)
}

/** Who listens on a port, as far as this user may see: `node (process 4711)`. */
export function describeListener(port: number): string | undefined {
  const inodes = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listeningInodes(readText(file), port))
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (holdsSocket(pid, inodes)) return `${readText(`/proc/${pid}/comm`).trim()} (process ${pid})`
  }
  return undefined
}

// 127.0.0.1 and "all addresses" of IPv4 and of IPv6, as /proc writes them.
const blockingAddresses = new Set(['0100007F', '0'.repeat(8), '0'.repeat(32)])

/** The socket inodes that keep others from a port of 127.0.0.1, from the text of `/proc/net/tcp`. */
export function listeningInodes(text: string, port: number): string[] {
  return listeningRows(text)
    .filter((row) => row.port === port && blockingAddresses.has(row.address))
    .map(({ inode }) => inode)
}

/** Whether somebody listens on an address of this network, given by its first two octets (`127.3`). */
export function hasListenerIn(network: string): boolean {
  return listensIn(readText('/proc/net/tcp'), network)
}

export function listensIn(text: string, network: string): boolean {
  // /proc writes 127.3.0.5 backwards, as 0500037F.
  const octets = network.split('.').map((octet) => Number(octet).toString(16).toUpperCase().padStart(2, '0'))
  const ending = octets.toReversed().join('')
  return listeningRows(text).some(({ address }) => address.length === 8 && address.endsWith(ending))
}

interface ListeningRow {
  address: string
  port: number
  inode: string
}

function listeningRows(text: string): ListeningRow[] {
  const listening = '0A'
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/))
  return rows
    .filter((fields) => fields[3] === listening)
    .map((fields) => {
      const [address = '', port = ''] = fields[1]!.split(':')
      return { address, port: Number.parseInt(port, 16), inode: fields[9]! }
    })
}

function holdsSocket(pid: string, inodes: string[]): boolean {
  try {
    const wanted = new Set(inodes.map((inode) => `socket:[${inode}]`))
    return readdirSync(`/proc/${pid}/fd`).some((fd) => wanted.has(readLink(`/proc/${pid}/fd/${fd}`)))
  } catch {
    return false
  }
}

function readLink(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
