import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ResponseParser } from './response-parser.ts'

/** Parses bytes that arrive in parts of the given length. Returns what the reader received. */
function parse(text: string, partLength = text.length) {
  const bytes = Buffer.from(text, 'latin1')
  const found = { status: 0, body: '', isReusable: false, ends: 0 }
  const parser = new ResponseParser({
    onHead: ({ statusCode, isReusable }) => Object.assign(found, { status: statusCode, isReusable }),
    onData: (chunk) => (found.body += chunk.toString('latin1')),
    onEnd: () => found.ends++,
  })
  parser.begin()
  for (let at = 0; at < bytes.length; at += partLength) parser.read(bytes.subarray(at, at + partLength))
  return { ...found, close: () => parser.close() }
}

const head = 'HTTP/1.1 200 OK\r\nServer: uvicorn\r\n'
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`

test.each([
  ['a length', `${head}content-length: 3\r\n\r\nabc`, { body: 'abc', isReusable: true }],
  ['no body', `${head}content-length: 0\r\n\r\n`, { body: '', isReusable: true }],
  ['a status without a body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', isReusable: true }],
  ['chunks', `${chunked}3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`, { body: 'abc0123456789', isReusable: true }],
  ['trailers', `${chunked}1\r\na\r\n0\r\nX: y\r\n\r\n`, { body: 'a', isReusable: true }],
  [
    'an informational response before it',
    `HTTP/1.1 100 Continue\r\n\r\n${head}content-length: 1\r\n\r\na`,
    { body: 'a' },
  ],
  ['a connection that closes', `${head}Connection: Close\r\ncontent-length: 1\r\n\r\na`, { isReusable: false }],
  ['an old version', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na', { isReusable: false }],
])('a response with %s is read, however it is split', (_, text, expected) => {
  for (let partLength = 1; partLength <= text.length; partLength++)
    expect(parse(text, partLength)).toMatchObject({ status: 200, ends: 1, ...expected })
})

test('chunks of any bytes are read unchanged', () => {
  const chunks = fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 }))
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 50 }), (texts, partLength) => {
      const framed = texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('')
      expect(parse(`${chunked}${framed}0\r\n\r\n`, partLength)).toMatchObject({ body: texts.join(''), ends: 1 })
    }),
  )
})

test('the end of the connection completes only a body without a length', () => {
  const open = parse(`${head}\r\nabc`)
  expect(open).toMatchObject({ body: 'abc', ends: 0, isReusable: false })
  expect(open.close).not.toThrow()
  for (const text of ['HTTP', `${head}content-length: 4\r\n\r\nabc`, `${chunked}3\r\nabc\r\n`])
    expect(parse(text).close).toThrow(expect.objectContaining({ code: 'CLOSED' }))
})

const malformed = [
  'HTTP/2 200\r\n\r\n',
  'ICY 200 OK\r\n\r\n',
  `${head}content-length: 3\r\nContent-Length: 4\r\n\r\nabc`,
  `${head}content-length: -1\r\n\r\n`,
  `${head}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n`,
  `${head}transfer-encoding: gzip, chunked\r\n\r\n`,
  `${head}a: b\r\n folded: c\r\n\r\n`,
  `${head}no colon\r\n\r\n`,
  `${head}a: b\nc: d\r\n\r\n`,
  `${head}content-length: 1\r\n\r\nab`,
  `${chunked}x\r\n`,
  `${chunked}1\nab`,
  `${chunked}\r\n`,
  `${chunked}1 \r\na\r\n`,
  `${chunked}1\r\nabc`,
  `${chunked}fffffffff\r\n`,
  `${chunked}0\r\n\r\nmore`,
  `${head}x: ${'a'.repeat(17_000)}`,
  `${chunked}1;${'a'.repeat(17_000)}`,
]

test.each(malformed.map((text) => [text.slice(0, 100), text]))(
  'a text that is malformed or ambiguous is rejected: %j',
  (_, text) => {
    for (const partLength of [1, 7, text.length])
      expect(() => parse(text, partLength)).toThrow(expect.objectContaining({ code: 'MALFORMED_RESPONSE' }))
  },
)

test('a parser that is stopped calls its reader no more', () => {
  const got: string[] = []
  const parser = new ResponseParser({
    onHead: () => {},
    onData: (chunk) => {
      got.push(chunk.toString())
      parser.stop()
    },
    onEnd: () => got.push('end'),
  })
  parser.begin()
  parser.read(Buffer.from(`${chunked}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`))
  expect(got).toEqual(['a'])
})
