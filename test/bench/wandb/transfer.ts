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
  /** In hex. */
  hexMd5: string
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
  const digest = hash.digest()
  return { size: megabytes * blockBytes, md5: digest.toString('base64'), hexMd5: digest.toString('hex'), read }
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
