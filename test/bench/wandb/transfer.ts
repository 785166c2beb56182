import type { S3Client } from '@aws-sdk/client-s3'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const blockBytes = 1024 * 1024
const blocks = Array.from({ length: 32 }, () => randomBytes(blockBytes))

/** Made bytes that take no memory. No two contents are equal. */
export interface Content {
  size: number
  /** In base64. */
  md5: string
  read: () => Iterable<Buffer>
}

export function makeContent(megabytes: number): Content {
  const first = randomBytes(blockBytes)
  const read = function* () {
    yield first
    for (let at = 1; at < megabytes; at++) yield blocks[at % blocks.length]!
  }
  const hash = createHash('md5')
  for (const block of read()) hash.update(block)
  return { size: megabytes * blockBytes, md5: hash.digest('base64'), read }
}

/** Uploads a content. Returns the seconds until the answer. */
export async function put(url: string, content: Content): Promise<number> {
  const startMs = performance.now()
  const headers = { 'Content-Length': content.size, 'Content-MD5': content.md5 }
  const request = http.request(url, { method: 'PUT', headers, agent: false })
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
  await Promise.all([
    pipeline(Readable.from(content.read(), { objectMode: false, highWaterMark: blockBytes }), request),
    answered,
  ])
  const [response] = await answered
  await drain(response)
  return (performance.now() - startMs) / 1_000
}

/** Downloads bytes and drops them. Returns the seconds until the last one. @throws if there are more or fewer */
export async function get(url: string, size: number): Promise<number> {
  const startMs = performance.now()
  const [response] = (await once(http.get(url, { agent: false }), 'response')) as [http.IncomingMessage]
  const received = await drain(response)
  if (received !== size) throw new Error(`${received} bytes arrived instead of ${size}`)
  return (performance.now() - startMs) / 1_000
}

async function drain(response: http.IncomingMessage): Promise<number> {
  let size = 0
  let text = ''
  response.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (response.statusCode !== 200) text += chunk.toString()
  })
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`answered by ${response.statusCode}: ${text}`)
  return size
}

/** Signs as the SDK's own addresses are signed, whose package is none of ours. */
interface Presigner {
  presign: (request: object, options: { expiresIn: number }) => Promise<{ query: Record<string, string> }>
}

/** The address of an object. It needs no header of authorization for an hour. */
export async function presign(
  client: S3Client,
  endpoint: string,
  { method, path }: { method: string; path: string },
): Promise<string> {
  const { hostname, port, host } = new URL(endpoint)
  const signer = (await client.config.signer()) as unknown as Presigner
  const headers = { host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
  const request = { method, path, protocol: 'http:', hostname, port: Number(port), headers, query: {} }
  const { query } = await signer.presign(request, { expiresIn: 3_600 })
  return `${endpoint}${path}?${new URLSearchParams(query).toString()}`
}
