import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { RequestContext } from '../../middleware/context.ts'
import { BodiesInFlight } from '../bodies-in-flight.ts'
import { readOtlpBody } from './body.ts'

const text = 'x'.repeat(2_000_000)

/** A request that sends bytes and is never answered. */
function requestOf(bytes: Buffer, headers: Record<string, string> = {}): RequestContext {
  const ctx: unknown = {
    req: Readable.from([bytes]),
    request: { length: bytes.length },
    res: { once: () => {} },
    socket: { destroy: () => {} },
    state: { caller: { entity: 'team' } },
    get: (name: string) => headers[name.toLowerCase()] ?? '',
  }
  return ctx as RequestContext
}
const gzip = { 'content-encoding': 'gzip' }

test.each([
  ['as they are sent', Buffer.from(text), {}],
  ['as they are when decompressed', gzipSync(text), gzip],
])('bodies count %s', async (_, bytes, headers) => {
  const bodies = new BodiesInFlight(12_000_000)
  expect((await readOtlpBody(bodies, requestOf(bytes, headers))).toString()).toBe(text)
  await expect(readOtlpBody(bodies, requestOf(bytes, headers))).rejects.toMatchObject({ status: 429 })
  expect((await readOtlpBody(bodies, requestOf(gzipSync('small'), gzip))).toString()).toBe('small')
})
