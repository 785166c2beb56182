import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { RequestContext } from '../../accounts/context.ts'
import { RequestMemory } from '../../accounts/limits/request-memory.ts'
import { readOtlpBody } from './body.ts'

const text = 'x'.repeat(2_000_000)

/** A request with this body, which is never answered. */
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
  ['as they are after decompression', gzipSync(text), gzip],
])('bodies count %s', async (_, bytes, headers) => {
  const memory = new RequestMemory(12_000_000)
  const ask = (sent: Buffer, about: Record<string, string>) => {
    const ctx = requestOf(sent, about)
    return readOtlpBody(memory.open(ctx), ctx)
  }
  expect((await ask(bytes, headers)).toString()).toBe(text)
  await expect(ask(bytes, headers)).rejects.toMatchObject({ status: 429 })
  expect((await ask(gzipSync('small'), gzip)).toString()).toBe('small')
})
