/** A request to the tracing interface. */
export interface Request {
  path: string
  /** JSON, or FormData for a form. */
  body: unknown
}

export interface Answer {
  status: number
  /** A JSON value, a list of them for lines, or a text for bytes. Integers that do not fit into a double are texts. */
  body: unknown
}

/** A compared server. */
export interface Server {
  url: string
  apiKey: string
  /** The wb_user_id of records that the key writes. Requests contain `<user>` instead. */
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

/** `JSON.parse` with a reviver that gets the source text of a number. The library's types lack it. */
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
