/** One request of the tracing interface. */
export interface Request {
  path: string
  /** JSON, or the fields of a form when it is FormData. */
  body: unknown
}

export interface Answer {
  status: number
  /** A JSON value, a list of them for lines, or text of bytes. Integers that no double holds are text. */
  body: unknown
}

/** A server under comparison. */
export interface Server {
  url: string
  apiKey: string
  /** The wb_user_id of what is written with the key; `<user>` in requests stands for it. */
  user: string
}

const lineRoutes = /stream_query|query_stream/
const byteRoutes = /^\/files?\/content$/

export async function send(server: Server, { path, body }: Request): Promise<Answer> {
  const isForm = body instanceof FormData
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${server.apiKey}`).toString('base64')}`,
      ...(!isForm && { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body).replaceAll('<user>', server.user),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, body: readBody(path, response.ok, bytes) }
}

function readBody(path: string, ok: boolean, bytes: Buffer): unknown {
  if (ok && byteRoutes.test(path)) return bytes.toString('base64')
  const text = bytes.toString()
  if (ok && lineRoutes.test(path)) return text.split('\n').filter(Boolean).map(readJson)
  return text === '' ? null : readJson(text)
}

/** `JSON.parse` whose reviver sees how a number was written, which the library's types do not know. */
const parseWithSource = JSON.parse as (
  text: string,
  revive: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown

function readJson(text: string): unknown {
  return parseWithSource(text, (_key, value, { source }) => {
    const isWideInteger = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source!)
    return isWideInteger ? source : value
  })
}
