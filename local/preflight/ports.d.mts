/** Tries to listen on a port of a loopback address: undefined when that works, else the system's code (EADDRINUSE). */
export function probePort(port: number, host?: string): Promise<string | undefined>
/** The program that listens on a port, as far as this user may see: `node (process 4711)`. */
export function describeListener(port: number): string | undefined
/** The socket inodes that keep others from a port of 127.0.0.1, from the text of `/proc/net/tcp`. */
export function listeningInodes(text: string, port: number): string[]

/** A socket that listens. The address is as /proc writes it. */
export interface ListeningRow {
  address: string
  port: number
  inode: string
}

/** The sockets that listen, from the text of `/proc/net/tcp`. */
export function listeningRows(text: string): ListeningRow[]
