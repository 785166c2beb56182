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
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  const listening = '0A'
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/))
  const matching = rows.filter((fields) => {
    const [address = '', localPort] = fields[1]?.split(':') ?? []
    return localPort === wanted && fields[3] === listening && blockingAddresses.has(address)
  })
  return matching.map((fields) => fields[9]!)
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
