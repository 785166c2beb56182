import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import net from 'node:net'

/**
 * Tries to listen on a port of a loopback address. Returns undefined when that works, else the system's error code
 * (EADDRINUSE).
 */
export function probePort(port, host = '127.0.0.1') {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', (error) => resolve(error.code))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

/** Describes the program that listens on a port, if this user may see it: `node (process 4711)`. */
export function describeListener(port) {
  const inodes = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listeningInodes(readText(file), port))
  const wanted = new Set(inodes.map((inode) => `socket:[${inode}]`))
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && hasOpenFile(name, wanted))
  return pid && `${readText(`/proc/${pid}/comm`).trim()} (process ${pid})`
}

// 127.0.0.1 and "all addresses" of IPv4 and of IPv6, in the notation of /proc.
const blockingAddresses = new Set(['0100007F', '0'.repeat(8), '0'.repeat(32)])

/** The inodes of sockets that block a port of 127.0.0.1, from the text of `/proc/net/tcp`. */
export function listeningInodes(text, port) {
  return listeningRows(text)
    .filter((row) => row.port === port && blockingAddresses.has(row.address))
    .map(({ inode }) => inode)
}

/** The listening sockets, from the text of `/proc/net/tcp`. */
export function listeningRows(text) {
  const listening = '0A'
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/))
  return rows
    .filter((fields) => fields[3] === listening)
    .map((fields) => {
      const [address = '', port = ''] = fields[1].split(':')
      return { address, port: Number.parseInt(port, 16), inode: fields[9] }
    })
}

function hasOpenFile(pid, wanted) {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => wanted.has(readLink(`/proc/${pid}/fd/${fd}`)))
  } catch {
    return false
  }
}

function readLink(file) {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
