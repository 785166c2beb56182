import { connect, type Socket } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')
// The end of a chunk's data and the empty chunk. No reply contains these bytes elsewhere.
const lastChunk = Buffer.from('\r\n0\r\n\r\n')

/** The server of requests, and their headers. */
export interface Target {
  url: string
  path: string
  headers: Record<string, string>
}

/** Writes a POST as the bytes of the wire. This is done before it is measured, so that the client costs almost nothing. */
export function writeRequest({ url, path, headers }: Target, body: string | Buffer): Buffer {
  const fields = { host: new URL(url).host, ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), Buffer.from(body)])
}

/**
 * Sends so many requests over several connections, again from the first one on after the last. Each connection sends its next
 * request as soon as it has the reply. Returns the latencies in milliseconds. A status other than 200 is an error.
 */
export async function sendAll(
  url: string,
  requests: readonly Buffer[],
  { connections, count = requests.length }: { connections: number; count?: number },
): Promise<number[]> {
  const timesMs: number[] = []
  let next = 0
  const work = async () => {
    const connection = new Connection(url)
    while (next < count) {
      const startMs = performance.now()
      const { status, body } = await connection.send(requests[next++ % requests.length]!)
      timesMs.push(performance.now() - startMs)
      if (status !== 200) throw new Error(`a request was answered by ${status}: ${body.toString().slice(0, 500)}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, work))
  return timesMs
}

export interface Reply {
  status: number
  body: Buffer
}

interface Waiting {
  resolve: (reply: Reply) => void
  reject: (error: Error) => void
}

/**
 * A connection that sends one prepared request after the other. It uses as little processor time as possible, because
 * on a small machine the contestants share the processors with the client.
 */
export class Connection {
  readonly #socket: Socket
  #waiting: Waiting | undefined
  #chunks: Buffer[] = []
  #bytes = 0
  /** Known when the head is complete: the head's length, and the length of the whole reply, NaN for a chunked one. */
  #head: { text: string; length: number; wholeBytes: number } | undefined

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  /** Sends a request. Resolves to its reply when the last byte has arrived. */
  send(request: Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  /** Sends a request for a stream. Resolves when its first event has arrived. All later bytes are dropped. */
  openStream(request: Buffer): Promise<void> {
    this.#socket.removeAllListeners('data')
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve: () => resolve(), reject }
      this.#socket.on('data', (chunk: Buffer) => chunk.includes('data: ') && resolve())
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#head ??= readHead(this.#chunks)
    if (!this.#head) return
    const { wholeBytes } = this.#head
    if (Number.isNaN(wholeBytes) ? this.#endsChunked() : this.#bytes >= wholeBytes) this.#finish(this.#head)
  }

  #endsChunked(): boolean {
    const last = this.#chunks.at(-1)!
    // The end may have arrived in two pieces.
    const tail = last.length < lastChunk.length ? Buffer.concat(this.#chunks) : last
    return tail.subarray(-lastChunk.length).equals(lastChunk)
  }

  #finish({ text, length }: { text: string; length: number }): void {
    const body = Buffer.concat(this.#chunks).subarray(length)
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#chunks = []
    this.#bytes = 0
    this.#head = undefined
    waiting?.resolve({ status: Number(text.slice(9, 12)), body })
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }
}

function readHead(chunks: Buffer[]): { text: string; length: number; wholeBytes: number } | undefined {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  const end = bytes.indexOf(headEnd)
  if (end === -1) return undefined
  const length = end + headEnd.length
  const text = bytes.toString('latin1', 0, length)
  const contentLength = /^content-length: (\d+)/im.exec(text)?.[1]
  return { text, length, wholeBytes: contentLength === undefined ? NaN : length + Number(contentLength) }
}
