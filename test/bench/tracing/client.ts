import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** The server of requests, and their headers. */
export interface Target {
  url: string
  path: string
  headers: Record<string, string>
}

/**
 * Writes a request as the bytes of the wire. This is done before the measurement, so that the client costs almost no
 * CPU time.
 */
export function writeRequest({ url, path, headers }: Target, body: string | Buffer): Buffer {
  const { host } = new URL(url)
  const fields = { host, ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), Buffer.from(body)])
}

/**
 * Sends requests over several connections. Each connection sends its next request as soon as it has the response.
 * Returns the latencies in milliseconds. A response other than 200 is an error.
 */
export async function sendAll(url: string, requests: readonly Buffer[], connections: number): Promise<number[]> {
  const { hostname, port } = new URL(url)
  const timesMs: number[] = []
  let next = 0
  const work = async () => {
    const socket = connect(Number(port), hostname).setNoDelay(true)
    await once(socket, 'connect')
    const exchange = createExchange(socket)
    while (next < requests.length) {
      const startMs = performance.now()
      await exchange(requests[next++]!)
      timesMs.push(performance.now() - startMs)
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, work))
  return timesMs
}

/** Reads only enough of a response to know that it is complete and successful. */
function createExchange(socket: Socket): (request: Buffer) => Promise<void> {
  let answer: Buffer = Buffer.alloc(0)
  let waiting = Promise.withResolvers<void>()
  socket.on('data', (bytes: Buffer) => {
    answer = answer.length === 0 ? bytes : Buffer.concat([answer, bytes])
    if (isWhole(answer)) waiting.resolve()
  })
  socket.on('error', (error) => waiting.reject(error))
  socket.on('close', () => waiting.reject(new Error('the server closed the connection')))
  waiting.promise.catch(() => {})
  return async (request) => {
    answer = Buffer.alloc(0)
    waiting = Promise.withResolvers<void>()
    socket.write(request)
    await waiting.promise
    if (!answer.subarray(0, 13).toString('latin1').startsWith('HTTP/1.1 200 ')) {
      throw new Error(`a request was answered by ${answer.subarray(0, 1_000).toString()}`)
    }
  }
}

function isWhole(answer: Buffer): boolean {
  const end = answer.indexOf('\r\n\r\n')
  if (end < 0) return false
  const head = answer.subarray(0, end).toString('latin1')
  const length = /^content-length: *(\d+)/im.exec(head)
  if (length) return answer.length >= end + 4 + Number(length[1])
  return answer.subarray(-5).toString('latin1') === '0\r\n\r\n'
}
