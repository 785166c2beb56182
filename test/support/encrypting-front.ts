import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** An S3 server whose ETags are no MD5s, like those of objects that are encrypted with a key of KMS. */
export interface EncryptingFront {
  endpoint: string
  /** How many objects were read. */
  readonly reads: number
  /** From now on, the first byte of what is read differs from what was written. */
  spoil: () => void
  close: () => Promise<void>
}

/** Opens one in front of an S3 server. */
export async function openEncryptingFront(port: number): Promise<EncryptingFront> {
  let [reads, spoiled] = [0, false]
  const server = http.createServer((incoming, response) => {
    const { method, url, headers } = incoming
    const answer = (answered: http.IncomingMessage) => {
      response.writeHead(answered.statusCode!, { ...answered.headers, ...(answered.headers.etag && { etag: '"kms"' }) })
      if (method === 'GET') reads++
      if (method === 'GET' && spoiled) answered.once('data', (chunk: Buffer) => (chunk[0]! ^= 1))
      answered.pipe(response)
    }
    const request = http.request({ port, method, path: url, headers, agent: false }, answer)
    request.on('error', () => response.destroy())
    incoming.pipe(request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get reads() {
      return reads
    },
    spoil: () => (spoiled = true),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
