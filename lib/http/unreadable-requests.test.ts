import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { startServer, type ServerSettings } from './server.ts'

async function connectTo(handle: RequestListener, settings: Partial<ServerSettings> = {}) {
  const server = await startServer(handle, { host: '127.0.0.1', port: 0, ...settings })
  onTestFinished(() => server.closeAllConnections())
  return { socket: connect((server.address() as AddressInfo).port) }
}

/** Returns all that a server sends until it closes the connection. */
async function send(sent: string, settings?: Partial<ServerSettings>): Promise<string> {
  const { socket } = await connectTo(() => {}, settings)
  socket.write(sent)
  return text(socket)
}

const readBody = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as unknown

test.each([
  [431, 'Request Header Fields Too Large', `GET /?${'q'.repeat(20_000)} HTTP/1.1\r\n\r\n`, /more than 16 KiB/],
  [400, 'Bad Request', 'HELLO\r\n\r\n', /not valid HTTP/],
])('%i %s has a sentence and an id', async (status, reason, sent, sentence) => {
  const answer = await send(sent)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} ${reason}\r\n`))
  expect(answer).toMatch(/\r\nConnection: close\r\n/)
  expect(answer).toMatch(/\r\nX-Request-Id: [\da-f-]{36}\r\n/)
  expect(readBody(answer)).toEqual({ detail: expect.stringMatching(sentence) as string })
})

test('a request that does not arrive in time is a 408', async () => {
  const times = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 20 }
  expect(await send('GET / HTTP/1.1\r\nHost: a\r\n', times)).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
})

test('nothing is added to a response that has begun', async () => {
  const { socket } = await connectTo((request, response) => {
    response.write('first')
    request.resume()
  })
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(String(first)).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  socket.write('no chunk\r\n')
  expect(await text(socket)).not.toContain('HTTP/1.1 400')
})
